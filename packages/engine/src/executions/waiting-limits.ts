import type { Waiting } from "@platform/contract/execution";
import { LIMIT_SURVEY } from "../store/limit-line.ts";
import type { LimitLine, LimitPlaces } from "../store/limit-line.ts";
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
 * Which limit it waits for: that of its subscription (for a job, of its organisation), where all places of that are taken, else that of the service,
 * where those are, else the one that has fewer places left. How many are before it, and after how many seconds it gets a place, as if all of the
 * service ran as long as this one. While nothing is known of its service, it may as well be about to enter the queue.
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
  const [other] = ofService;
  if (own === undefined)
    // Of the owner no more is known than that nothing of it waited when the others did.
    return { reason: other === undefined ? "QUEUE" : findReason({ ...other, takenByOwner: 0 }) };
  const reason = findReason(own);
  const isOfOwner = reason === "SUBSCRIPTION_LIMIT";
  const limit = isOfOwner ? own.ofOwner : own.ofService;
  const turn = findTurn(id, own);
  if (turn < 0 || limit === null) return { reason };
  const position = isOfOwner ? turn : turn + countOthers(own, ofService, turn);
  if (durations === null) return { reason, position };
  const estimateSeconds = toSeconds(((position + 0.5) * durations.typical) / limit);
  return { reason, position, estimateSeconds };
}

type Places = Omit<LimitPlaces, "held">;

function findReason(places: Places): "QUEUE" | "SERVICE_LIMIT" | "SUBSCRIPTION_LIMIT" {
  const { ofOwner, ofService } = countLeft(places);
  if (ofOwner <= 0) return "SUBSCRIPTION_LIMIT";
  if (ofService <= 0) return "SERVICE_LIMIT";
  if (ofOwner === Infinity && ofService === Infinity) return "QUEUE";
  return ofOwner <= ofService ? "SUBSCRIPTION_LIMIT" : "SERVICE_LIMIT";
}

/** Places that are not taken. */
function countLeft({ ofOwner, ofService, taken, takenByOwner }: Places) {
  return { ofOwner: (ofOwner ?? Infinity) - takenByOwner, ofService: (ofService ?? Infinity) - taken };
}

/** The same once so many of its owner were started: as many have a place as there are, the others are held. */
export function takePlaces(places: LimitPlaces, count: number): LimitPlaces {
  const { ofOwner, ofService } = countLeft(places);
  const free = places.held > 0 ? 0 : Math.max(0, Math.min(ofOwner, ofService));
  const placed = Math.min(free, count);
  const { taken, takenByOwner, held } = places;
  return {
    ...places,
    taken: taken + placed,
    takenByOwner: takenByOwner + placed,
    held: held + count - placed,
  };
}

/** How many of its owner are before it; -1: unknown. */
function findTurn(id: string | null, { held, firstIds }: LimitLine): number {
  if (id !== null) return firstIds.indexOf(id);
  return held < LIMIT_SURVEY.counted ? held : -1;
}

/**
 * Which limit one waits for that is started now. Null: there is a place for it, and nothing of its owner waits for one.
 *
 * @param lines null: unknown
 * @param places of this moment, while `lines` may be older
 */
export function foreseeLimit(
  { ownerId, limitKey }: { readonly ownerId: string; readonly limitKey: string },
  {
    places,
    lines,
    durations,
  }: {
    readonly places: LimitPlaces;
    readonly lines: readonly LimitLine[] | null;
    readonly durations: Pick<Durations, "typical"> | null;
  },
): Waiting | null {
  const left = countLeft(places);
  if (places.held === 0 && left.ofOwner > 0 && left.ofService > 0) return null;
  const others = lines?.filter((line) => line.limitKey !== limitKey || line.ownerId !== ownerId) ?? [];
  const own = { ...places, limitKey, ownerId, firstIds: [] };
  return explainLimit({ id: null, ownerId, limitKey }, [own, ...others], durations);
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
