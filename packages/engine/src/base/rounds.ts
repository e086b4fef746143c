/** When work is done, in milliseconds. */
interface Pause {
  readonly every: number;
  readonly first: number;
}

/** Runs `work` from time to time, never twice at once. Returns a function that stops it and waits for the current round. */
export function startRounds(
  work: () => Promise<unknown>,
  pause: Pause,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let round: Promise<void> | null = null;
  const startRound = () => {
    round ??= work()
      .then(() => undefined, onError)
      .finally(() => {
        round = null;
      });
  };
  const first = setTimeout(startRound, pause.first);
  const timer = setInterval(startRound, pause.every);
  return async () => {
    clearTimeout(first);
    clearInterval(timer);
    await round;
  };
}
