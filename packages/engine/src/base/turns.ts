/**
 * Runs what is given in turns: so many at the same time, never before its caller has the promise. Those that wait are taken from one sharer after
 * the other: whoever wants much delays only themselves. Missing: all is of one.
 */
export function createTurns(atOnce: number): <T>(work: () => Promise<T>, sharer?: string) => Promise<T> {
  /** Whose turn is next stands first. */
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;
  const takeTurn = (sharer: string) =>
    new Promise<void>((resolve) => {
      if (running === atOnce) {
        const own = waiting.get(sharer);
        if (own === undefined) waiting.set(sharer, [resolve]);
        else own.push(resolve);
        return;
      }
      running += 1;
      resolve();
    });
  const takeNext = (): (() => void) | undefined => {
    const [first] = waiting;
    if (first === undefined) return undefined;
    const [sharer, own] = first;
    const next = own.shift();
    waiting.delete(sharer);
    if (own.length > 0) waiting.set(sharer, own);
    return next;
  };
  return async (work, sharer = "") => {
    await takeTurn(sharer);
    try {
      return await work();
    } finally {
      const next = takeNext();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
