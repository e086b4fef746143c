import { readMonotonic } from "@platform/engine/base/monotonic";
import { DAY, SECOND } from "@platform/engine/base/time";
import { BACKEND_PRIORITY } from "@platform/engine/store/kinds";
import { getLowestUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { PROMOTE_LOCK } from "../../postgres/locks.ts";
import { lookUp } from "./lookup.ts";
import type { ReadHorizon } from "./queue-horizon.ts";
import { isQueued } from "./queue-rows.ts";
import { describeRanks } from "./rank.ts";

/*
 * A class is served when nothing of a higher one waits, which may be for ever. So what has waited behind a higher one for some minutes gets the
 * next class, with the place that a start of that moment gets there: it takes turns with the others, and a backlog of one owner that has waited
 * together does not go before all of theirs. Ends with the highest class: high ones are bounded by their own backlog alone.
 */

/** At one time, of one class; the next follows at once. */
const AT_ONCE = 500;
const EVERY_MS = 5 * SECOND;

/** Classes that others are above of. */
const LOWER = [0, -1] as const;

/** Parameters: lowest id in the queue, lowest id of the day after tomorrow, the class, and the lowest id of what has not waited for long enough. */
const PROMOTE = `with guard as materialized (
    -- It only saves work: the locks of rows are what makes two rounds at a time safe.
    select pg_try_advisory_xact_lock(${PROMOTE_LOCK}) as is_ours
  ), late as materialized (
    -- In their order. The bounds of the id are checked in the index.
    select e.id, e.owner_id, e.cpu_milli, e.memory_milli, (e.priority + 1)::smallint as priority, null::text as held, row_number() over () as position
    from (select * from execution e
      where (select is_ours from guard) and exists (select 1 from execution h where ${isQueued("h")} and h.priority > $3::smallint and h.priority < ${BACKEND_PRIORITY})
        and ${isQueued("e")} and e.priority = $3::smallint and e.id >= $1 and e.id < $4 and e.id < $2
      order by e.rank, e.id limit ${AT_ONCE} for update skip locked) e
  ), ${describeRanks("late")}
  update execution e set priority = ranked.priority, rank = ranked.rank
  from ranked where ${lookUp("e", "ranked.id", isQueued("e"))} returning e.id`;

/** What a round works with. */
interface PromotionOptions {
  readonly readHorizon: ReadHorizon;
  /** How long something waits behind a higher class. */
  readonly waitMs: number;
  /** Milliseconds since any fixed moment; default: the monotonic clock. */
  readonly now?: () => number;
}

/**
 * Returns a function that gives what has waited behind a higher class for long enough the next class, unless it did so in the last seconds. It
 * returns how many there were.
 */
export function createPromotion(
  database: Pick<Database, "query">,
  { readHorizon, waitMs, now = readMonotonic }: PromotionOptions,
): () => Promise<number> {
  let nextAt = -Infinity;
  return async () => {
    if (now() < nextAt) return 0;
    nextAt = now() + EVERY_MS;
    let promoted = 0;
    for (const priority of LOWER) promoted += await promoteClass(database, { priority, readHorizon, waitMs });
    return promoted;
  };
}

async function promoteClass(
  database: Pick<Database, "query">,
  {
    priority,
    readHorizon,
    waitMs,
  }: { readonly priority: number } & Required<Pick<PromotionOptions, "readHorizon" | "waitMs">>,
): Promise<number> {
  let promoted = 0;
  for (;;) {
    const today = Math.floor(Date.now() / DAY) * DAY;
    const rows = await database.query({
      name: "execution-promote",
      text: PROMOTE,
      values: [
        await readHorizon(),
        getLowestUuid(today + 2 * DAY),
        priority,
        getLowestUuid(Date.now() - waitMs),
      ],
    });
    promoted += rows.length;
    if (rows.length < AT_ONCE) return promoted;
  }
}
