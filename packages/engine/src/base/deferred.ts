/** A promise that its owner settles; `Promise.withResolvers` is not in the oldest Node.js that the CLI runs on. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

/** A pending promise with the function that resolves it; it is never rejected. Only the first call of `resolve` counts. */
export function createDeferred<T>(): Deferred<T> {
  let settle: ((value: T) => void) | undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle?.(value) };
}
