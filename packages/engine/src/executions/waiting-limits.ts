import type { Waiting } from "@platform/contract/execution";
import { LIMIT_SURVEY } from "../store/limit-line.ts";
import type { LimitLine } from "../store/limit-line.ts";
import type { Durations } from "./durations.ts";

/** An execution that is held by a limit. */
interface Limited {
  /** Null: it is not there yet, and would come behind all of its owner. */
  readonly id: string | null;
  readonly ownerId: string;
  /** Null: unknown. */
  readonly limitKey: string | null;
}

/**
 * Which limit it waits for: that of its subscription (for a job, of its organisation), where all places of that are taken, else that of the service.
 * How many are before it, and after how many seconds it gets a place, as if all of the service ran as long as this one.
 *
 * @param lines null: unknown
 */
export function explainLimit(
  { id, ownerId, limitKey }: Limited,
  lines: readonly LimitLine[] | null,
  durations: Pick<Durations, "typical"> | null,
): Waiting {
  const ofService = lines?.filter((line) => line.limitKey === limitKey) ?? [];
  const own = ofService.find((line) => line.ownerId === ownerId);
  if (own === undefined) return { reason: "SERVICE_LIMIT" };
  const isOwnFull = own.ofOwner !== null && own.takenByOwner >= own.ofOwner;
  const reason = isOwnFull ? "SUBSCRIPTION_LIMIT" : "SERVICE_LIMIT";
  const limit = isOwnFull ? own.ofOwner : own.ofService;
  const turn = findTurn(id, own);
  if (turn < 0 || limit === null) return { reason };
  const position = isOwnFull ? turn : turn + countOthers(own, ofService, turn);
  if (durations === null) return { reason, position };
  const estimateSeconds = toSeconds(((position + 0.5) * durations.typical) / limit);
  return { reason, position, estimateSeconds };
}

/** How many of its owner are before it; -1: unknown. */
function findTurn(id: string | null, { held, firstIds }: LimitLine): number {
  if (id !== null) return firstIds.indexOf(id);
  return held < LIMIT_SURVEY.counted ? held : -1;
}

/** Whether one that is started now has others before it that wait for a place as well. */
export function waitsForPlace(
  { ownerId, limitKey }: Pick<Limited, "ownerId" | "limitKey">,
  lines: readonly LimitLine[] | null,
): boolean {
  const ofService = lines?.filter((line) => line.limitKey === limitKey) ?? [];
  return ofService.some(
    (line) => line.ownerId === ownerId || (line.ofService !== null && line.taken >= line.ofService),
  );
}

/** Executions of other owners that get a place before it: the next place is of who has the fewest. */
function countOthers(own: LimitLine, lines: readonly LimitLine[], turn: number): number {
  const places = own.takenByOwner + turn;
  const before = lines.map(({ ownerId, takenByOwner, ofOwner, held }) => {
    const most = Math.min(places, ofOwner ?? Infinity) - takenByOwner;
    return ownerId === own.ownerId ? 0 : Math.min(held, Math.max(0, most));
  });
  return before.reduce((sum, count) => sum + count, 0);
}

function toSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
