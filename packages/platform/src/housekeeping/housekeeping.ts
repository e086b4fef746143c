import type { Database } from "../postgres/database.ts";
import type { Logger } from "../postgres/logger.ts";
import { maintainPartitions } from "../store/partitions.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** The first round comes soon: a fresh database has no statistics, without which claims sort the whole queue. */
const FIRST_ROUND = 5 * SECOND;

/** Makes tomorrow's partitions, drops those past retention, keeps statistics current. Returns how to stop it. */
export function startHousekeeping(
  database: Database,
  options: { readonly retentionDays: number },
  logger: Logger,
): () => Promise<void> {
  let round: Promise<void> = Promise.resolve();
  const keepHouse = () => {
    round = maintainPartitions(database, { logger, retentionDays: options.retentionDays }).then(
      (report) =>
        report !== null &&
        report.dropped.length > 0 &&
        logger.info(report, "days past retention were dropped"),
      (error: unknown) => logger.error({ err: error }, "housekeeping failed"),
    ) as Promise<void>;
  };
  const first = setTimeout(keepHouse, FIRST_ROUND);
  const timer = setInterval(keepHouse, HOUR);
  return async () => {
    clearTimeout(first);
    clearInterval(timer);
    await round;
  };
}
