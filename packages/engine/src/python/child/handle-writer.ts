import { createTimers } from "../../base/timers.ts";
import { readMonotonic } from "../../base/monotonic.ts";
import { SECOND } from "../../base/time.ts";
import type { ExternalRun } from "../port/runtime.ts";

/** `HANDLE_LIMIT` in `external.py`. */
export const MAX_HANDLE_BYTES = 4096;
/** A run has one thing to keep, or a few: each is a write that has to be flushed. */
const MAX_HANDLES = 100;
/** Between two writes, from the fourth on. */
const INTERVAL_MS = 1 * SECOND;
const BURST = 3;

/** Keeps the handles of one run of an external backend: the run goes on once it is told that its handle is stored. */
export interface HandleWriter {
  /** False where this is no handle, or one that the runner does not send: too many, or before the last one was stored. */
  readonly take: (payload: Buffer) => boolean;
  /** Whether the run may say that nothing can be known of the attempt before, whose worker was lost. */
  readonly mayBeUnknown: boolean;
  /** `tell` is called when a handle is stored. */
  readonly attach: (tell: () => void) => void;
  /** Settles when what was taken is stored, or cannot be any more. Never rejects. */
  readonly drain: () => Promise<void>;
}

/** For one run. */
export function createHandleWriter({ onHandle, wasLost }: ExternalRun): HandleWriter {
  const timers = createTimers<"pause">();
  let told: (() => void) | null = null;
  let count = 0;
  let nextAt = -Infinity;
  let writing: Promise<void> | null = null;

  async function write(handle: string): Promise<void> {
    const pauseMs = nextAt - readMonotonic();
    if (count > BURST && pauseMs > 0)
      await new Promise<void>((resolve) => timers.set("pause", pauseMs, resolve));
    nextAt = readMonotonic() + INTERVAL_MS;
    const isKept = await onHandle(handle);
    writing = null;
    // Of a claim that is lost the process is ended: it is told nothing.
    if (isKept) told?.();
  }

  return {
    mayBeUnknown: wasLost,
    take: (payload) => {
      count += 1;
      if (writing !== null || count > MAX_HANDLES || !isHandle(payload)) return false;
      writing = write(payload.toString("latin1"));
      return true;
    },
    attach: (tell) => {
      told = tell;
    },
    drain: async () => {
      await writing;
    },
  };
}

/** Printable ASCII. */
function isHandle(payload: Buffer): boolean {
  return payload.length > 0 && payload.every((byte) => byte >= 0x20 && byte < 0x7f);
}
