import { DAY, HOUR, MINUTE, SECOND } from "@platform/engine/base/time";
import type { DataDirectory } from "../host/data-directory.ts";
import type { Database } from "../postgres/database.ts";
import type { Logger } from "@platform/engine/base/logger";
import { startRounds } from "@platform/engine/base/rounds";
import { untilAborted } from "@platform/engine/base/until-aborted";
import type { ObjectStore } from "../objects/object-store.ts";
import { adoptObjects } from "../objects/sweep.ts";
import { removeOldBatches } from "../store/executions/batches.ts";
import { maintainPartitions } from "../store/executions/partitions.ts";
import { createFeedStore } from "../store/feed/feed.ts";
import { createGarbageStore } from "../store/garbage.ts";
import { createObjectRows } from "../store/objects/object-rows.ts";
import { createUploadStore } from "../store/pools/uploads.ts";
import { settleAllCharges } from "../store/quantum-budgets.ts";
import { rollUpSeries } from "../store/instance/series.ts";
import { rollUpUsage } from "../store/usage/roll-up.ts";
import { collectGarbage } from "./collect-garbage.ts";

/** The first round comes soon: a new database has no statistics, without which claims sort the whole queue. */
const FIRST_ROUND = 5 * SECOND;
/** So short that few entries wait: whoever asks for usage adds them up. */
const ROLL_UP_EVERY = MINUTE;

/** What housekeeping works with. */
export interface HousekeepingOptions {
  readonly database: Database;
  readonly data: DataDirectory;
  /** Where objects are stored. */
  readonly store: ObjectStore;
  readonly retentionDays: number;
  readonly logRetentionDays: number;
  readonly logger: Logger;
}

/**
 * Once an hour creates partitions, drops those past retention, updates statistics and removes what is not needed any more
 * (collect-garbage.ts); once a minute rolls up usage and series, and settles budgets; once a day notes what is stored without a row. Returns a function that stops all of it and waits
 * for the current rounds, though not for a store that does not answer.
 */
export function startHousekeeping({
  database,
  data,
  store,
  retentionDays,
  logRetentionDays,
  logger,
}: HousekeepingOptions): () => Promise<void> {
  const garbage = createGarbageStore(database, retentionDays);
  const closing = new AbortController();
  const objects = {
    store: leaveAtOnce(store, closing.signal),
    rows: createObjectRows(database, retentionDays),
  };
  // Only asked what is needed, so no quota.
  const uploads = createUploadStore(database, 0);
  const runRound = async (): Promise<void> => {
    const days = await maintainDays({ database, retentionDays, logRetentionDays, logger });
    const collected = await collectGarbage({ data, garbage, objects, uploads });
    const removed = {
      ...collected,
      feedEvents: await removeFeedEvents(database),
      batches: await removeOldBatches(database, retentionDays),
    };
    const hasRemoved =
      Object.values(removed).some((count) => count > 0) || days.dropped.length + days.expired > 0;
    if (hasRemoved) logger.info({ ...days, removed }, "old data was removed");
  };
  const rounds = startRounds(runRound, { every: HOUR, first: FIRST_ROUND }, (error) => {
    if (!closing.signal.aborted) logger.error({ err: error }, "housekeeping failed");
  });
  const rollUps = startRollUps(database, logger);
  const series = startRounds(
    async () => {
      await createFeedStore(database).sequence();
      await rollUpSeries(database);
    },
    { every: ROLL_UP_EVERY, first: FIRST_ROUND },
    (error) => logger.warn({ err: error }, "series could not be rolled up; trying again in a minute"),
  );
  const adoptions = startRounds(
    () => adoptObjects(objects),
    { every: DAY, first: FIRST_ROUND },
    (error) => {
      if (!closing.signal.aborted)
        logger.warn(
          { err: error },
          "what is stored could not be compared with the database; trying again tomorrow",
        );
    },
  );
  const settlements = startSettlements(database, logger);
  return async () => {
    closing.abort();
    await Promise.all([rounds(), rollUps(), series(), settlements(), adoptions()]);
  };
}

function startRollUps(database: Database, logger: Logger): () => Promise<void> {
  return startRounds(
    () => rollUpUsage(database),
    { every: ROLL_UP_EVERY, first: ROLL_UP_EVERY },
    (error) => logger.warn({ err: error }, "usage could not be rolled up; trying again in a minute"),
  );
}

/** What quantum jobs have cost takes the place of what they held of budgets. */
function startSettlements(database: Database, logger: Logger): () => Promise<void> {
  return startRounds(
    () => settleAllCharges(database),
    { every: ROLL_UP_EVERY, first: ROLL_UP_EVERY },
    (error) => logger.warn({ err: error }, "budgets could not be settled; trying again in a minute"),
  );
}

/** In parts, so that none takes long. */
async function removeFeedEvents(database: Database): Promise<number> {
  const { removeOld } = createFeedStore(database);
  let removed = 0;
  for (let count = await removeOld(); count > 0; count = await removeOld()) removed += count;
  return removed;
}

/** What housekeeping asks of the store; rejects when the signal aborts. What has been asked by then may still happen, as any removal whose answer is lost. */
function leaveAtOnce(
  { remove, removeUnfinished, list }: ObjectStore,
  signal: AbortSignal,
): Pick<ObjectStore, "remove" | "removeUnfinished" | "list"> {
  const ask = async <T>(work: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    return await untilAborted(work(), signal);
  };
  return {
    remove: (hash) => ask(() => remove(hash)),
    removeUnfinished: (before) => ask(() => removeUnfinished(before)),
    list: async function* () {
      const objects = list()[Symbol.asyncIterator]();
      for (;;) {
        const next = await ask(() => objects.next());
        if (next.done === true) return;
        yield next.value;
      }
    },
  };
}

/** What could not be done here keeps nothing else from being removed. */
async function maintainDays({
  database,
  ...options
}: Pick<HousekeepingOptions, "database" | "retentionDays" | "logRetentionDays" | "logger">) {
  const report = await maintainPartitions(database, options).catch((error: unknown) => {
    options.logger.error({ err: error }, "the days of executions could not be maintained");
    return null;
  });
  return report ?? { dropped: [], expired: 0 };
}
