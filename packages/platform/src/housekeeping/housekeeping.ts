import { SECOND, HOUR } from "@platform/engine/base/time";
import type { DataDirectory } from "../host/data-directory.ts";
import type { Database } from "../postgres/database.ts";
import type { Logger } from "@platform/engine/base/logger";
import { maintainPartitions } from "../store/executions/partitions.ts";
import { createGarbageStore } from "../store/garbage.ts";
import { collectGarbage } from "./collect-garbage.ts";

/** The first round comes soon: a new database has no statistics, without which claims sort the whole queue. */
const FIRST_ROUND = 5 * SECOND;

/** What housekeeping works with. */
export interface HousekeepingOptions {
  readonly database: Database;
  readonly data: DataDirectory;
  readonly retentionDays: number;
  readonly logger: Logger;
}

/**
 * Once an hour creates partitions, drops those past retention, updates statistics and removes what is not needed any more
 * (collect-garbage.ts). Returns a function that stops it and waits for the current round.
 */
export function startHousekeeping({
  database,
  data,
  retentionDays,
  logger,
}: HousekeepingOptions): () => Promise<void> {
  const garbage = createGarbageStore(database, retentionDays);
  const runRound = async (): Promise<void> => {
    const report = await maintainPartitions(database, { logger, retentionDays });
    const removed = await collectGarbage({ data, garbage });
    const hasRemoved = Object.values(removed).some((count) => count > 0) || (report?.dropped.length ?? 0) > 0;
    if (hasRemoved) logger.info({ ...report, removed }, "old data was removed");
  };
  let round: Promise<void> = Promise.resolve();
  const startRound = () => {
    round = runRound().catch((error: unknown) => logger.error({ err: error }, "housekeeping failed"));
  };
  const first = setTimeout(startRound, FIRST_ROUND);
  const timer = setInterval(startRound, HOUR);
  return async () => {
    clearTimeout(first);
    clearInterval(timer);
    await round;
  };
}
