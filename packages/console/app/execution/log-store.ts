/** A line of a log. */
export interface LogLine {
  /** As on the wire. */
  readonly timestamp: string;
  readonly severity: string;
  readonly message: string;
}

/** The lines of one execution, as they arrive. */
export interface LogStore {
  readonly append: (lines: readonly LogLine[]) => void;
  /** There are no more. */
  readonly end: () => void;
  /** Called at most once for each frame that the browser draws. */
  readonly subscribe: (changed: () => void) => () => void;
  /** The same object until something changes. */
  readonly read: () => LogSnapshot;
}

/** What there is of a log. */
export interface LogSnapshot {
  readonly lines: readonly LogLine[];
  /** Whether all lines have arrived. */
  readonly hasEnded: boolean;
  /** Older lines that are not kept any more. */
  readonly dropped: number;
}

/** Kept of one log: a page holds no more. */
const MOST_LINES = 300_000;
/** Taken out at once, so that it is done seldom. */
const TAKEN_OUT = 50_000;

/**
 * Outside of React, since a log may have a hundred thousand lines: what shows it is told once for each frame.
 *
 * @param nextFrame calls back before the browser draws again
 */
export function createLogStore(nextFrame: (run: () => void) => void, mostLines = MOST_LINES): LogStore {
  const listeners = new Set<() => void>();
  const lines: LogLine[] = [];
  let dropped = 0;
  let hasEnded = false;
  let isTold = true;
  let snapshot: LogSnapshot = { lines: [], hasEnded, dropped };
  const change = () => {
    if (!isTold) return;
    isTold = false;
    nextFrame(() => {
      isTold = true;
      snapshot = { lines: [...lines], hasEnded, dropped };
      for (const changed of listeners) changed();
    });
  };
  return {
    append: (added) => {
      for (const line of added) lines.push(line);
      if (lines.length > mostLines) {
        const excess = lines.length - mostLines + Math.min(TAKEN_OUT, mostLines / 2);
        lines.splice(0, excess);
        dropped += excess;
      }
      change();
    },
    end: () => {
      hasEnded = true;
      change();
    },
    subscribe: (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    read: () => snapshot,
  };
}
