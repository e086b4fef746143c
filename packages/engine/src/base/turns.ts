/** Runs what is given in turns: so many at the same time, never before its caller has the promise. */
export function createTurns(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  const takeTurn = () =>
    new Promise<void>((resolve) => {
      if (running === atOnce) {
        waiting.push(resolve);
        return;
      }
      running += 1;
      resolve();
    });
  return async (work) => {
    await takeTurn();
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
