import type { BatchRefusal } from "../store/batches.ts";
import type { StartOutlook } from "../store/start-outlook.ts";
import type { Owner } from "../store/owner.ts";
import type { VersionTarget } from "../versions/runnable-version.ts";
import { createBatchRefusals } from "./batch-refusals.ts";
import type { BatchRefusals } from "./batch-refusals.ts";
import { eachItem } from "./each-item.ts";
import { createPacer } from "./pacer.ts";
import { refuseLate } from "./reference-lane.ts";
import type { References } from "./reference-lane.ts";
import { acceptStart, foreseeStart } from "./rehearse.ts";
import type { AcceptedStart, Rehearsal, RehearsalParts } from "./rehearse.ts";
import { splitItems } from "./split-items.ts";
import { requireRefusal } from "./start-items.ts";
import type { GrantedStarts } from "./start-items.ts";

/*
 * Each item is checked by itself, with the bounds of a batch that is started, and then judged in its order: the ones before it take places, as they
 * would. The database is asked once what a start would find.
 */

/** What the start of a batch would do. */
export interface BatchRehearsal {
  readonly total: number;
  /** Of those that would be started, by their places in the request. */
  readonly found: ReadonlyMap<number, Rehearsal>;
  readonly refusals: readonly BatchRefusal[];
}

/** A batch that is not started. */
interface RehearsedBatch {
  readonly body: Uint8Array;
  readonly target: VersionTarget;
  /** How many starts would be granted of so many. Missing: all. */
  readonly grantStarts?: (count: number) => Promise<GrantedStarts>;
}

type Parts = RehearsalParts & References;

/** Creates, stores and counts nothing. */
export function createBatchRehearsal(parts: Parts) {
  const pace = createPacer();
  return async (owner: Owner, { body, target, grantStarts }: RehearsedBatch): Promise<BatchRehearsal> => {
    const items: Uint8Array[] = [];
    for (const item of splitItems(body)) {
      if (item !== null) items.push(item);
      await pace();
    }
    const refusals = createBatchRefusals();
    const { granted, refusal } = (await grantStarts?.(items.length)) ?? ALL_GRANTED;
    const wanted = items.slice(0, granted);
    for (let index = wanted.length; index < items.length; index++)
      refusals.add(index, refusal ?? refuseLate());
    const accepted = await acceptAll(parts, { owner, target, items: wanted, pace }, refusals);
    const found = await foreseeAll(parts, { target, accepted, pace }, refusals);
    return { total: items.length, found, refusals: refusals.list() };
  };
}

const ALL_GRANTED: GrantedStarts = { granted: Infinity, refusal: null };

/** Those that are well-formed and name what there is, in their order. */
async function acceptAll(
  parts: Parts,
  {
    owner,
    target,
    items,
    pace,
  }: {
    readonly owner: Owner;
    readonly target: VersionTarget;
    readonly items: readonly Uint8Array[];
    readonly pace: () => Promise<void>;
  },
  refusals: BatchRefusals,
): Promise<readonly (readonly [number, AcceptedStart])[]> {
  const accepted = new Map<number, AcceptedStart>();
  const failure = await eachItem({
    wanted: items.map((_, index) => ({ index })),
    items,
    pace,
    references: parts,
    refuse: refusals.add,
    ask: async () => null,
    work: async ({ index }, bytes, lane) => {
      await refuseOr(refusals, index, async () => {
        accepted.set(index, await acceptStart(parts, { owner, target, bytes }, lane));
      });
    },
  });
  if (failure !== null) throw failure.error;
  return [...accepted].sort(([a], [b]) => a - b);
}

async function foreseeAll(
  parts: Parts,
  {
    target,
    accepted,
    pace,
  }: {
    readonly target: VersionTarget;
    readonly accepted: readonly (readonly [number, AcceptedStart])[];
    readonly pace: () => Promise<void>;
  },
  refusals: BatchRefusals,
): Promise<ReadonlyMap<number, Rehearsal>> {
  const { store, admission } = parts;
  const found = new Map<number, Rehearsal>();
  const before = { now: 0, later: 0 };
  // What an item asks for besides its times is the same of all.
  let asked: Promise<StartOutlook> | null = null;
  for (const [index, start] of accepted) {
    await pace();
    await refuseOr(refusals, index, async () => {
      const kind = start.isDelayed ? "later" : "now";
      await admission.check({ ownerId: start.owner.id, isDelayed: start.isDelayed }, before[kind]);
      const { quotaAfter, quota: first, ...outlook } = await (asked ??= store.foresee(start));
      const quota = quotaAfter === undefined ? first : quotaAfter(found.size);
      const known = { ...outlook, ...(quota === undefined ? {} : { quota }) };
      found.set(index, await foreseeStart(parts, { target, start, outlook: known, before: before[kind] }));
      before[kind] += 1;
    });
  }
  return found;
}

/** @throws what says nothing of the item */
async function refuseOr(refusals: BatchRefusals, index: number, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    refusals.add(index, requireRefusal(error));
  }
}
