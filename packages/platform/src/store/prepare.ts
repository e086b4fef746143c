import type { Database } from "../postgres/database.ts";
import type { Logger } from "../postgres/logger.ts";
import { migrate } from "../postgres/migrate.ts";
import { ensurePartitions } from "./partitions.ts";

/** Brings the schema up to date and makes today's partitions; every role calls it before it does anything else. */
export async function prepareDatabase(
  database: Database,
  options: { readonly logger: Logger; readonly retentionDays: number },
): Promise<void> {
  const applied = await migrate(database);
  if (applied.length > 0) options.logger.info({ applied }, "migrated the database");
  await ensurePartitions(database, options);
}
