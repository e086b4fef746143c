import type { Logger } from "./logger.ts";

/** Closes what this process has started, in reverse order: a part is closed before the parts that it depends on. */
export interface Closers {
  /** Adds a part. One that is added after closing has begun is closed as well. */
  readonly add: (name: string, close: () => Promise<void> | void) => void;
  /** Never rejects: a part that cannot be closed is logged, and the remaining parts are closed. */
  readonly closeAll: () => Promise<void>;
}

/** Has no parts at first. Errors of closing are written to `logger`. */
export function createClosers(logger: Logger): Closers {
  const entries: { readonly name: string; readonly close: () => Promise<void> | void }[] = [];
  let closing: Promise<void> | null = null;
  const closeEntries = async () => {
    for (let entry = entries.pop(); entry !== undefined; entry = entries.pop()) {
      const { name, close } = entry;
      try {
        await close();
      } catch (error) {
        logger.error({ err: error, name }, "could not be closed");
      }
    }
    closing = null;
  };
  return {
    add: (name, close) => void entries.push({ name, close }),
    closeAll: () => (closing ??= closeEntries()),
  };
}
