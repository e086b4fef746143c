import { LIMIT_SURVEY } from "./limit-line.ts";
import type { LimitLine, LimitPlaces } from "./limit-line.ts";
import { choosePlaces } from "./limit-rules.ts";
import type { LimitedOwner, Limits } from "./limit-rules.ts";
import type { ExecutionStore } from "./execution-store.ts";
import { putIntoQueue } from "./memory-entries.ts";
import type { Entry, MemoryEntries } from "./memory-entries.ts";

/** The limits of the store in memory. */
export interface MemoryLimits extends Pick<ExecutionStore, "surveyLimits"> {
  /** From now on; what is absent is not limited. */
  readonly setLimits: (limitKey: string, limits: Limits) => void;
  /** Gives places to what waits for one; how many have got one. */
  readonly release: () => number;
  /** Whether some wait for a place. */
  readonly isAnyHeld: () => boolean;
  /** Null: the service has no limits. */
  readonly findPlaces: (limitKey: string, ownerId: string) => LimitPlaces | null;
}

/** Executions that have a place or wait for one, of one service. */
interface Line {
  readonly limitKey: string;
  readonly owners: readonly LimitedOwner<Entry>[];
}

/** Nothing is limited at first. */
export function createMemoryLimits(entries: MemoryEntries): MemoryLimits {
  const limitsOf = new Map<string, Limits>();
  const turns = new Map<string, string>();
  const findLimits = (limitKey: string) => limitsOf.get(limitKey) ?? {};
  return {
    setLimits: (limitKey, limits) => {
      limitsOf.set(limitKey, limits);
      entries.emit({ type: "held" });
    },
    release: () => {
      let released = 0;
      for (const { limitKey, owners } of listLines(entries)) {
        const lastTurn = turns.get(limitKey) ?? null;
        const given = choosePlaces({ limits: findLimits(limitKey), owners, lastTurn });
        for (const { item, ownerId } of given) {
          putIntoQueue(entries, item);
          turns.set(limitKey, ownerId);
        }
        released += given.length;
      }
      return released;
    },
    isAnyHeld: () => [...entries.byId.values()].some(isLimited),
    findPlaces: (limitKey, ownerId) => {
      const { service = null, subscription = null } = findLimits(limitKey);
      if (service === null && subscription === null) return null;
      const all = [...entries.byId.values()].filter(({ execution }) => execution.limitKey === limitKey);
      const own = all.filter(({ execution }) => execution.owner.id === ownerId);
      return {
        ofService: service,
        ofOwner: subscription,
        taken: all.filter(hasPlace).length,
        takenByOwner: own.filter(hasPlace).length,
        held: Math.min(own.filter(isLimited).length, LIMIT_SURVEY.counted),
      };
    },
    surveyLimits: async () =>
      listLines(entries)
        .flatMap((line) => describeLine(line, findLimits(line.limitKey)))
        .slice(0, LIMIT_SURVEY.lines),
  };
}

/** Those of services of which some are held. */
function listLines(entries: MemoryEntries): readonly Line[] {
  const lines = new Map<string, Map<string, { taken: number; held: Entry[] }>>();
  for (const entry of entries.byId.values()) {
    const { limitKey, owner } = entry.execution;
    if (limitKey === undefined) continue;
    const [isHeld, isTaken] = [isLimited(entry), hasPlace(entry)];
    if (!isHeld && !isTaken) continue;
    const owners = getOrAdd(lines, limitKey, () => new Map());
    const counted = getOrAdd(owners, owner.id, () => ({ taken: 0, held: [] }));
    if (isTaken) counted.taken += 1;
    else counted.held.push(entry);
  }
  return [...lines]
    .map(([limitKey, owners]) => ({ limitKey, owners: [...owners].map(toOwner) }))
    .filter(({ owners }) => owners.some(({ held }) => held.length > 0));
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = create();
  map.set(key, made);
  return made;
}

/** In the order of their ids: what was to begin later is among those of its creation. */
function toOwner([ownerId, { taken, held }]: readonly [
  string,
  { readonly taken: number; readonly held: readonly Entry[] },
]): LimitedOwner<Entry> {
  return { ownerId, taken, held: [...held].sort((a, b) => (a.record.id < b.record.id ? -1 : 1)) };
}

function describeLine({ limitKey, owners }: Line, { service, subscription }: Limits): readonly LimitLine[] {
  const taken = owners.reduce((sum, owner) => sum + owner.taken, 0);
  return owners
    .filter(({ held }) => held.length > 0)
    .map((owner) => ({
      limitKey,
      ownerId: owner.ownerId,
      ofService: service ?? null,
      ofOwner: subscription ?? null,
      taken,
      takenByOwner: owner.taken,
      held: Math.min(owner.held.length, LIMIT_SURVEY.counted),
      firstIds: owner.held.slice(0, LIMIT_SURVEY.ids).map(({ record }) => record.id),
    }));
}

function isLimited({ record, held }: Entry): boolean {
  return record.status === "PENDING" && held === "LIMIT";
}

/** What is in the queue or runs. */
function hasPlace({ record, held }: Entry): boolean {
  return held === null && (record.status === "PENDING" || record.status === "RUNNING");
}
