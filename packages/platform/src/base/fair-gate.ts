import { createDeferred } from "@platform/engine/base/deferred";
import { Problem } from "@platform/contract/problems";

/** For whom something is done. */
export interface Sharer {
  readonly organisationId: string;
  readonly userId: string;
}

/** Lets what costs much take turns in this process. */
export interface FairGate {
  /** Runs the work when it is its turn. @throws Problem RATE_LIMITED where too much of the organisation or the user waits already */
  readonly admit: <T>(sharer: Sharer, work: () => Promise<T>) => Promise<T>;
}

/** How much may run, and wait, at the same time. */
interface GateLimits {
  /** In the text of a refusal: "searches of executions". */
  readonly what: string;
  readonly inAll: number;
  /** Of one organisation, and of one user in all of theirs. */
  readonly perSharer: number;
  /** Of one organisation or user. */
  readonly waiting: number;
}

/** What runs, or waits until it is begun. */
interface Turn extends Sharer {
  readonly begin: () => void;
}

const SHARERS = [
  ["organisationId", "Your organisation has"],
  ["userId", "You have"],
] as const;
const RETRY_AFTER_SECONDS = "1";

/** Nothing runs at first. */
export function createFairGate(limits: GateLimits): FairGate {
  const running = new Set<Turn>();
  /** In the order in which they came; none of them could run now. */
  const waiting = new Set<Turn>();
  /** Number of the last turn of each organisation that wants something. */
  const turns = new Map<string, number>();
  let turn = 0;

  const mayRun = (one: Turn): boolean =>
    running.size < limits.inAll && SHARERS.every(([by]) => count(running, by, one) < limits.perSharer);
  const begin = (one: Turn): void => {
    waiting.delete(one);
    running.add(one);
    turns.set(one.organisationId, (turn += 1));
    one.begin();
  };
  /** Of the organisation whose turn is longest ago: how much another one wants does not delay it. */
  const findNext = (): Turn | undefined => {
    const lastTurn = ({ organisationId }: Turn) => turns.get(organisationId) ?? 0;
    return [...waiting].filter(mayRun).toSorted((a, b) => lastTurn(a) - lastTurn(b))[0];
  };
  const leave = (one: Turn): void => {
    running.delete(one);
    const isKnown = [running, waiting].some((those) => count(those, "organisationId", one) > 0);
    if (!isKnown) turns.delete(one.organisationId);
    for (let next = findNext(); next !== undefined; next = findNext()) begin(next);
  };

  return {
    admit: async ({ organisationId, userId }, work) => {
      const { promise, resolve } = createDeferred<undefined>();
      const one: Turn = { organisationId, userId, begin: () => resolve(undefined) };
      if (mayRun(one)) begin(one);
      else {
        requireRoom(waiting, one, limits);
        waiting.add(one);
      }
      await promise;
      try {
        return await work();
      } finally {
        leave(one);
      }
    },
  };
}

function count(some: Iterable<Turn>, by: keyof Sharer, one: Turn): number {
  return [...some].filter((other) => other[by] === one[by]).length;
}

/** @throws Problem RATE_LIMITED */
function requireRoom(waiting: ReadonlySet<Turn>, one: Turn, limits: GateLimits): void {
  for (const [by, who] of SHARERS) {
    const own = count(waiting, by, one);
    if (own < limits.waiting) continue;
    throw new Problem(
      "RATE_LIMITED",
      `${who} ${own} ${limits.what} that wait for others; try again in ${RETRY_AFTER_SECONDS} second.`,
      { headers: { "retry-after": RETRY_AFTER_SECONDS } },
    );
  }
}
