/**
 * Limits the share of this thread that is spent on data that user code writes.
 *
 * The thread also serves all callers, and a process can write faster than this thread can read. Work is therefore
 * counted in units of about 12 ns (what a byte of a rendered log line costs on the machine of docs/decisions.md) and
 * done in turns. What does not fit into a turn waits, and its stream is not read meanwhile: the writer has to wait too.
 * Within a turn all that waits gets an equal share, so that one flood does not hold up the lines of others.
 */
export interface Pace {
  /** Does the work now if this turn has units left and no other work waits; otherwise in the turns that follow. */
  readonly enter: (work: Work) => void;
  /** Removes work that waits. */
  readonly leave: (work: Work) => void;
}

/** Does work that costs about `allowance`, and at least some; `state` says whether it needs another turn. */
export type Work = (allowance: number) => { readonly cost: number; readonly state: "done" | "more" };

/** How much work is done in each turn, and how long the turns are apart. */
interface PaceOptions {
  readonly unitsPerTurn: number;
  readonly turnMs: number;
  /** Calls back after this many milliseconds; default: setTimeout. */
  readonly wait?: (action: () => void, milliseconds: number) => void;
}

/** Fixed cost of a chunk: an event, a buffer, some calls. */
export const CHUNK_COST = 768;
/** Minimum share of each work in a turn, in units, so that every stream makes progress however many wait. */
const MIN_SHARE = 512;

/** Nothing waits at first. Its timer does not keep the process running. */
export function createPace({ unitsPerTurn, turnMs, wait = waitUnreferenced }: PaceOptions): Pace {
  const waiting = new Set<Work>();
  let left = unitsPerTurn;
  let isTurning = false;

  function perform(work: Work, share: number): void {
    const { cost, state } = work(share);
    left -= cost;
    waiting.delete(work);
    if (state === "more") waiting.add(work); // at the end: the others are next
  }

  /** The excess cost of a turn is subtracted from those that follow. */
  function turn(): void {
    isTurning = false;
    left = Math.min(unitsPerTurn, left + unitsPerTurn);
    const round = [...waiting];
    const share = Math.max(MIN_SHARE, Math.floor(left / Math.max(1, round.length)));
    for (const work of round) {
      if (left <= 0) break;
      if (waiting.has(work)) perform(work, share);
    }
    planTurn();
  }

  function planTurn(): void {
    if (isTurning || (waiting.size === 0 && left === unitsPerTurn)) return;
    isTurning = true;
    wait(turn, turnMs);
  }

  return {
    enter: (work) => {
      if (waiting.has(work)) return;
      if (waiting.size === 0 && left > 0) perform(work, left);
      else waiting.add(work);
      planTurn();
    },
    leave: (work) => void waiting.delete(work),
  };
}

function waitUnreferenced(action: () => void, milliseconds: number): void {
  setTimeout(action, milliseconds).unref();
}

/** The paces of one runtime: answers do not wait behind floods of lines. */
export interface Paces {
  /** stdout and stderr: at most 4 % of the thread, 3.2 MB of rendered lines a second. */
  readonly logs: Pace;
  /** Control connections of children and zygotes: at most 16 %. */
  readonly answers: Pace;
}

const TURN_MS = 5;
const KIBIBYTE = 1024;

/** The paces with the shares of a runtime. */
export function createPaces(): Paces {
  return {
    logs: createPace({ unitsPerTurn: 16 * KIBIBYTE, turnMs: TURN_MS }),
    answers: createPace({ unitsPerTurn: 64 * KIBIBYTE, turnMs: TURN_MS }),
  };
}
