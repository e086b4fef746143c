/** Work that any number of callers wait for; it is stopped when the last of them gives up. */
export interface SharedWork<T> {
  /** How it ends, for its owner: waiting for it does not keep the work from being stopped. */
  readonly result: Promise<T>;
  /** Waits for the result. The last caller to give up, when `signal` aborts, stops the work and waits for its end; any other rejects at once. */
  readonly join: (signal?: AbortSignal) => Promise<T>;
  /** Stops the work: `result` rejects as the work does. */
  readonly stop: (reason: unknown) => void;
  /** Whether it was stopped: later callers want new work. */
  readonly isStopped: () => boolean;
}

/**
 * Starts the work, which ends soon after `stopping` aborts; the work may abort it too. `describeLeave`: what a caller that gives up is
 * rejected with, and the work stopped with; default: the reason of its signal.
 */
export function shareWork<T>(
  work: (stopping: AbortController) => Promise<T>,
  describeLeave: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): SharedWork<T> {
  const stopping = new AbortController();
  const result = work(stopping);
  // All waiting callers see a failure; when there are none left, it must not count as an unhandled rejection.
  result.catch(() => undefined);
  let waiting = 0;
  return {
    result,
    stop: (reason) => stopping.abort(reason),
    isStopped: () => stopping.signal.aborted,
    join: async (signal) => {
      waiting += 1;
      if (signal === undefined) return result;
      const settled = new AbortController();
      const gaveUp = new Promise<never>((_resolve, reject) => {
        const giveUp = (): void => {
          waiting -= 1;
          if (waiting > 0) reject(describeLeave(signal));
          else stopping.abort(describeLeave(signal));
        };
        signal.addEventListener("abort", giveUp, { once: true, signal: settled.signal });
        if (signal.aborted) giveUp();
      });
      return Promise.race([result, gaveUp]).finally(() => settled.abort());
    },
  };
}
