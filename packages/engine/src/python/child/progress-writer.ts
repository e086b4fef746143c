import { createTimers } from "../../base/timers.ts";
import { MEGABYTE } from "../../base/bytes.ts";
import { readMonotonic } from "../../base/monotonic.ts";
import { SECOND } from "../../base/time.ts";
import type { ProgressUpdate, RunRequest } from "../port/runtime.ts";
import { FRAME } from "../wire/frames.ts";
import type { Frame } from "../wire/frames.ts";
import { readCheckpoint, readProgress } from "./progress-frames.ts";

/** Between two writes. */
const INTERVAL_MS = 1 * SECOND;
/** What each byte of a checkpoint adds to that: 128 kB a second. A log may be sixteen megabytes in all, checkpoints come for as long as a run goes on. */
const MS_PER_BYTE = (8 * SECOND) / MEGABYTE;

/**
 * Passes on what a run reports: of each kind the newest only, one write at a time, at a pace. What is passed over is not even parsed.
 *
 * It keeps one message of each kind, and one write; nothing of it outlives the run.
 */
export interface ProgressWriter {
  readonly note: (frame: Frame) => void;
  /** `drain` waits for this too. Never rejects. */
  readonly await: (rest: Promise<void>) => void;
  /** Passes on what is left; nothing is afterwards. @param isSuperseded whether there is a result: then no checkpoint is wanted */
  readonly drain: (isSuperseded: boolean) => Promise<void>;
}

/** @param onProgress as of `RunRequest`; what it rejects is lost */
export function createProgressWriter(onProgress: RunRequest["onProgress"]): ProgressWriter {
  const timers = createTimers<"next">();
  const newest = new Map<number, Buffer>();
  let state: "open" | "draining" | "closed" = "open";
  let nextAt = -Infinity;
  let written: Promise<void> | null = null;
  let rest: Promise<void> = Promise.resolve();

  function takeNewest(): ProgressUpdate | null {
    const [progress, checkpoint] = [newest.get(FRAME.progress), newest.get(FRAME.checkpoint)];
    newest.clear();
    const update = {
      progress: progress === undefined ? null : readProgress(progress),
      checkpoint: checkpoint === undefined ? null : readCheckpoint(checkpoint),
    };
    return update.progress === null && update.checkpoint === null ? null : update;
  }

  async function write(): Promise<void> {
    const update = takeNewest();
    nextAt = readMonotonic() + INTERVAL_MS + (update?.checkpoint?.length ?? 0) * MS_PER_BYTE;
    if (update !== null) await onProgress?.(update).catch(() => undefined);
  }

  function goOn(): void {
    written = null;
    schedule();
  }

  function schedule(): void {
    if (state !== "open" || newest.size === 0 || written !== null || timers.has("next")) return;
    timers.set("next", Math.max(0, nextAt - readMonotonic()), () => {
      written = write();
      void written.then(goOn);
    });
  }

  return {
    note: ({ type, payload }) => {
      if (state === "closed" || onProgress === undefined) return;
      newest.set(type, payload);
      schedule();
    },
    await: (promise) => {
      rest = promise;
    },
    drain: async (isSuperseded) => {
      state = "draining";
      timers.clear("next");
      await Promise.all([rest, written]);
      state = "closed";
      if (isSuperseded) newest.delete(FRAME.checkpoint);
      if (newest.size > 0) await write();
    },
  };
}
