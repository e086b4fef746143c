import { Readable } from "node:stream";
import { MEGABYTE } from "../../base/bytes.ts";
import type { ReceivedContent, ResultStore } from "../../content/result-store.ts";

/** So much may wait in memory for the disk. */
const WAITING_BYTES = MEGABYTE;

/** Content on its way from a run to a file. */
export interface ContentReceiver {
  /** The content; rejects where it could not be stored, or was given up. */
  readonly received: Promise<ReceivedContent>;
  readonly push: (part: Buffer) => void;
  /** Whether nothing more may be pushed until `onDrained` was called. */
  readonly isBehind: () => boolean;
  readonly end: () => void;
  /** Nothing more comes, and nobody wants what has come. */
  readonly abandon: () => void;
}

/** @param onDrained more may be pushed */
export function receiveContent(
  results: Pick<ResultStore, "receive">,
  bytes: number,
  onDrained: () => void,
): ContentReceiver {
  let state: "open" | "behind" | "failed" = "open";
  const advance = (): void => {
    if (state !== "behind") return;
    state = "open";
    onDrained();
  };
  const stream = new Readable({ read: advance, highWaterMark: WAITING_BYTES });
  // Destroyed: `received` says it.
  stream.on("error", () => undefined);
  const received = results.receive(stream, bytes);
  received.catch(() => {
    // What still comes is not kept: who sends it must not wait.
    const wasBehind = state === "behind";
    state = "failed";
    if (wasBehind) onDrained();
  });
  return {
    received,
    push: (part) => {
      if (state !== "failed" && !stream.push(part)) state = "behind";
    },
    isBehind: () => state === "behind",
    end: () => {
      if (state !== "failed") stream.push(null);
    },
    abandon: () => {
      state = "failed";
      stream.destroy(new Error("the content was given up"));
      received
        .then(
          (content) => content.drop(),
          () => undefined,
        )
        .catch(() => undefined);
    },
  };
}
