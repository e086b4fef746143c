import { finished } from "node:stream";
import type { Readable } from "node:stream";

/**
 * The chunks of a stream, until it ends or the signal aborts. Whoever stops early leaves the stream open, with nothing of this on it: its
 * rest can be read, or dropped by `resume`. An iterator of the stream itself cannot be left while it waits for a chunk, and keeps the rest
 * from flowing.
 *
 * @throws the reason of the signal, the failure of the stream
 */
export async function* readUntil(
  content: Readable,
  signal: AbortSignal,
): AsyncGenerator<unknown, undefined, undefined> {
  let end: { readonly error: unknown } | null = null;
  let wake: (() => void) | null = null;
  const onChange = (): void => wake?.();
  content.on("readable", onChange);
  signal.addEventListener("abort", onChange);
  const forget = finished(content, { writable: false }, (error) => {
    end = { error: error ?? null };
    onChange();
  });
  const takeEnd = (): { readonly error: unknown } | null => end;
  try {
    for (;;) {
      signal.throwIfAborted();
      const chunk: unknown = content.destroyed ? null : content.read();
      const ended = takeEnd();
      if (chunk !== null) yield chunk;
      else if (ended === null)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      else if (ended.error === null) return undefined;
      else throw ended.error;
    }
  } finally {
    forget();
    signal.removeEventListener("abort", onChange);
    content.off("readable", onChange);
  }
}
