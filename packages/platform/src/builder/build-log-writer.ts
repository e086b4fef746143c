import type { Logger } from "../base/logger.ts";

export interface BuildLogWriter {
  readonly write: (text: string) => void;
  /** Resolves when all lines are stored, or could not be. What is written afterwards is dropped. */
  readonly close: () => Promise<void>;
}

export interface BuildLogWriterOptions {
  readonly store: (lines: readonly string[]) => Promise<void>;
  readonly logger: Logger;
}

const FLUSH_MS = 250;
/** A build log is for reading: what an installer prints beyond this is left out. */
const MAX_LINES = 20_000;
const MAX_LINE_LENGTH = 4_000;
/** As much as one answer may hold: a reader from the first line on gets everything in one. */
const MAX_LENGTH = 2_000_000;

/** Stores lines as they come, in order, a quarter of a second's worth at once. Losing lines never fails a build. */
export function createBuildLogWriter({ store, logger }: BuildLogWriterOptions): BuildLogWriter {
  let waiting: string[] = [];
  let lineCount = 0;
  let length = 0;
  let timer: NodeJS.Timeout | null = null;
  let flushed = Promise.resolve();
  let isClosed = false;

  const storeAfter = async (before: Promise<void>, lines: readonly string[]): Promise<void> => {
    await before;
    try {
      await store(lines);
    } catch (error) {
      logger.warn({ err: error, lines: lines.length }, "lines of a build log could not be stored");
    }
  };

  const flush = (): void => {
    timer = null;
    const lines = waiting;
    waiting = [];
    if (lines.length === 0) return;
    flushed = storeAfter(flushed, lines);
  };

  const isFull = () => lineCount >= MAX_LINES || length >= MAX_LENGTH;
  const add = (line: string): void => {
    if (isClosed || isFull()) return;
    const kept = line.slice(0, MAX_LINE_LENGTH);
    lineCount += 1;
    length += kept.length;
    waiting.push(isFull() ? "... the rest of the log is left out" : kept);
    timer ??= setTimeout(flush, FLUSH_MS);
  };

  return {
    write: (text) => {
      for (const line of text.split("\n")) add(line);
    },
    close: async () => {
      isClosed = true;
      if (timer) clearTimeout(timer);
      flush();
      await flushed;
    },
  };
}
