import { createDatabase } from "../postgres/database.ts";
import type { ConnectionTarget, Database, DatabaseOptions } from "../postgres/database.ts";
import { MAINTENANCE } from "../postgres/limits.ts";
import type { Logger } from "@platform/engine/base/logger";
import { migrate } from "../postgres/migrate.ts";
import { ensurePartitions } from "./executions/partitions.ts";

/** One connection whose statements may take long; it is opened when needed and closed when idle. */
export function createMaintenanceDatabase(target: ConnectionTarget, options: DatabaseOptions): Database {
  return createDatabase(target, { maxConnections: 1, limits: MAINTENANCE, ...options });
}

/** Applies new migrations and creates today's partitions. Every role calls it before it uses the database. */
export async function prepareDatabase(
  database: Database,
  options: { readonly logger: Logger; readonly retentionDays: number },
): Promise<void> {
  const applied = await migrate(database);
  if (applied.length > 0) options.logger.info({ applied }, "migrated the database");
  await ensurePartitions(database, options);
}
