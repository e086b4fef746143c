/** For models: throws when a promise is broken; fast-check then looks for the shortest way there. */
export function demand(isKept: boolean, promise: string): asserts isKept {
  if (!isKept) throw new Error(`broken promise: ${promise}`);
}
