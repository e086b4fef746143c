import { createTimers } from "../../base/timers.ts";
import { MEGABYTE } from "../../base/bytes.ts";
import { readMonotonic } from "../../base/monotonic.ts";
import { SECOND } from "../../base/time.ts";
import type { Frame } from "../wire/frames.ts";
import type { ProgressWriter } from "./progress-writer.ts";

/** What a frame takes of the second that may be read without a pause. The runner sends ten in a second, and ten at once. */
const FRAME_MS = SECOND / 50;
const MS_PER_BYTE = SECOND / (16 * MEGABYTE);
/** In units of `Pace`: header, buffer and map. */
const FRAME_COST = 64;

/**
 * Reads the reports of one connection at a limited rate: code can write them faster than the runner does, without end. Above the rate the
 * connection is not read, so that the writer has to wait.
 */
export interface ProgressReader {
  /** What it has cost, in units of `Pace`. Ask `isHeld` before the next. */
  readonly take: (frame: Frame) => number;
  /** Whether nothing is to be read at present; `onReleased` says when that is over. */
  readonly isHeld: () => boolean;
  /** Holds nothing back any more: the writer has ended, and what is left is little. */
  readonly release: () => void;
}

/**
 * @param onReleased more may be read
 * @param now milliseconds; default: the monotonic clock
 */
export function createProgressReader(
  writer: Pick<ProgressWriter, "note">,
  onReleased: () => void,
  now: () => number = readMonotonic,
): ProgressReader {
  const timers = createTimers<"held">();
  let isReleased = false;
  let spentUntil = 0;

  const findExcess = () => (isReleased ? 0 : spentUntil - now() - SECOND);

  return {
    take: (frame) => {
      spentUntil = Math.max(spentUntil, now()) + FRAME_MS + frame.payload.length * MS_PER_BYTE;
      writer.note(frame);
      return FRAME_COST;
    },
    isHeld: () => {
      const excess = findExcess();
      // Timers may be a little early: whoever is told to wait is always woken.
      if (excess > 0 && !timers.has("held")) timers.set("held", excess, onReleased);
      return excess > 0;
    },
    release: () => {
      isReleased = true;
      timers.clear("held");
    },
  };
}
