import type { Logger } from "./logger.ts";

/** What this process has started, closed in the opposite order: what was built on something goes before it. */
export interface Closers {
  /** After a close has begun, what comes is closed as well. */
  readonly add: (name: string, close: () => Promise<void> | void) => void;
  /** Never rejects: what cannot be closed is logged, and the rest is closed all the same. */
  readonly closeAll: () => Promise<void>;
}

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
