import { MEGABYTE } from "../../base/bytes.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createTimers } from "../../base/timers.ts";
import type { LogLine, RunRequest } from "../port/runtime.ts";

/** Bytes of rendered lines that the store has not taken yet; at this limit reading pauses, so that the process that prints has to wait. */
const MAX_UNWRITTEN_BYTES = MEGABYTE;
/** The first line is written at once, later ones in batches: one write per turn cost the store more than the lines themselves. */
const BATCH_MS = 50;
const BATCH_BYTES = 64 * 1024;

/** Writes log lines to the store, in order. When a write fails, its lines are lost and the next ones are written. */
export interface LogWriter {
  /** @param bytes what the lines take as they are kept */
  readonly add: (lines: readonly LogLine[], bytes: number) => void;
  /** Whether the store is so far behind that nothing should be added until the next write is done. */
  readonly isBehind: () => boolean;
  /** Writes the remaining lines; no more can be added. */
  readonly close: () => void;
  /** Settles when it is closed and everything was written. Never rejects. */
  readonly written: Promise<void>;
}

/** @param onWritten called after each write */
export function createLogWriter(onLog: RunRequest["onLog"], onWritten: () => void): LogWriter {
  const written = createDeferred<undefined>();
  const timers = createTimers<"batch">();
  let state: "open" | "closed" = "open";
  let writes = 0;
  let unwrittenBytes = 0;
  let batch: LogLine[] = [];
  let batchBytes = 0;

  function flush(): void {
    timers.clear("batch");
    if (batch.length === 0) return;
    timers.set("batch", BATCH_MS, flush);
    void write(batch, batchBytes);
    batch = [];
    batchBytes = 0;
  }

  async function write(lines: readonly LogLine[], bytes: number): Promise<void> {
    writes += 1;
    await onLog(lines).catch(() => undefined);
    writes -= 1;
    unwrittenBytes -= bytes;
    onWritten();
    settle();
  }

  function settle(): void {
    if (state === "closed" && writes === 0) written.resolve(undefined);
  }

  return {
    add: (lines, bytes) => {
      if (lines.length === 0 || state === "closed") return;
      unwrittenBytes += bytes;
      batchBytes += bytes;
      for (const line of lines) batch.push(line);
      if (batchBytes >= BATCH_BYTES || !timers.has("batch")) flush();
    },
    isBehind: () => unwrittenBytes >= MAX_UNWRITTEN_BYTES,
    close: () => {
      flush();
      state = "closed";
      timers.clear("batch");
      settle();
    },
    written: written.promise,
  };
}
