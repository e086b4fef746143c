import type { Logger } from "@platform/engine/base/logger";

/** Stores the log of one build. */
export interface BuildLogWriter {
  /** Adds a text of one or more lines. */
  readonly write: (text: string) => void;
  /** Resolves when all lines are stored, or could not be. Later lines are dropped. */
  readonly close: () => Promise<void>;
}

/** Where the lines go. */
export interface BuildLogWriterOptions {
  readonly store: (lines: readonly string[]) => Promise<void>;
  readonly logger: Logger;
}

const FLUSH_MS = 250;
/** Lines of a log; what an installer prints beyond that is dropped. */
const MAX_LINES = 20_000;
const MAX_LINE_LENGTH = 4_000;
/** Characters of a log: as many as fit into one answer. */
const MAX_LENGTH = 2_000_000;

/** Stores lines in order, every FLUSH_MS. Lines that cannot be stored are lost; the build goes on. */
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
    waiting.push(isFull() ? "... the rest of the log is omitted" : kept);
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
