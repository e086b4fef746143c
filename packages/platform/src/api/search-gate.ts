import { createDeferred } from "@platform/engine/base/deferred";
import { Problem } from "@platform/contract/problems";

/** Who searches. */
interface Searcher {
  readonly organisationId: string;
  readonly userId: string;
}

/** Lets searches of this process take turns: each may keep a connection and the database busy for a second. */
export interface SearchGate {
  /** Runs the work when it is its turn. @throws Problem RATE_LIMITED where too many of the organisation or the user wait already */
  readonly admit: <T>(searcher: Searcher, work: () => Promise<T>) => Promise<T>;
}

/** How many searches may run, and wait, at the same time. */
interface SearchLimits {
  /** One less than there are connections (store/history/history.ts): what reads a single execution never waits for a search. */
  readonly inAll: number;
  /** Of one organisation, and of one user in all of theirs: less than in all, so that nobody has all places. */
  readonly perSharer: number;
  /** Of one organisation or user. */
  readonly waiting: number;
}

const DEFAULT_SEARCH_LIMITS: SearchLimits = { inAll: 3, perSharer: 2, waiting: 20 };

/** A search that runs, or waits until it is begun. */
interface Search extends Searcher {
  readonly begin: () => void;
}

const SHARERS = [
  ["organisationId", "Your organisation has"],
  ["userId", "You have"],
] as const;
const RETRY_AFTER_SECONDS = "1";

/** Nothing is searched at first. */
export function createSearchGate(limits: SearchLimits = DEFAULT_SEARCH_LIMITS): SearchGate {
  const running = new Set<Search>();
  /** In the order in which they came; none of them could run now. */
  const waiting = new Set<Search>();
  /** Number of the last turn of each organisation that searches. */
  const turns = new Map<string, number>();
  let turn = 0;

  const mayRun = (search: Search): boolean =>
    running.size < limits.inAll && SHARERS.every(([by]) => count(running, by, search) < limits.perSharer);
  const begin = (search: Search): void => {
    waiting.delete(search);
    running.add(search);
    turns.set(search.organisationId, (turn += 1));
    search.begin();
  };
  /** Of the organisation whose turn is longest ago: how much another one wants does not delay it. */
  const findNext = (): Search | undefined => {
    const lastTurn = ({ organisationId }: Search) => turns.get(organisationId) ?? 0;
    return [...waiting].filter(mayRun).toSorted((a, b) => lastTurn(a) - lastTurn(b))[0];
  };
  const leave = (search: Search): void => {
    running.delete(search);
    const isKnown = [running, waiting].some((some) => count(some, "organisationId", search) > 0);
    if (!isKnown) turns.delete(search.organisationId);
    for (let next = findNext(); next !== undefined; next = findNext()) begin(next);
  };

  return {
    admit: async ({ organisationId, userId }, work) => {
      const { promise, resolve } = createDeferred<undefined>();
      const search: Search = { organisationId, userId, begin: () => resolve(undefined) };
      if (mayRun(search)) begin(search);
      else {
        requireRoom(waiting, search, limits);
        waiting.add(search);
      }
      await promise;
      try {
        return await work();
      } finally {
        leave(search);
      }
    },
  };
}

function count(searches: Iterable<Search>, by: keyof Searcher, search: Search): number {
  return [...searches].filter((one) => one[by] === search[by]).length;
}

/** @throws Problem RATE_LIMITED */
function requireRoom(waiting: ReadonlySet<Search>, search: Search, limits: SearchLimits): void {
  for (const [by, who] of SHARERS) {
    const own = count(waiting, by, search);
    if (own < limits.waiting) continue;
    throw new Problem(
      "RATE_LIMITED",
      `${who} ${own} searches of executions that wait for others; try again in ${RETRY_AFTER_SECONDS} second.`,
      { headers: { "retry-after": RETRY_AFTER_SECONDS } },
    );
  }
}
