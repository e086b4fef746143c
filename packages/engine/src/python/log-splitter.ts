import type { LogLine } from "./runtime.ts";

type Severity = LogLine["severity"];

const NEWLINE = 10;
/** A line that starts with this byte and one of the letters says its own severity (runner/service_runner/capture.py). */
const MARK = 0x1e;
const SEVERITIES: ReadonlyMap<number, Severity> = new Map([
  ["D".charCodeAt(0), "DEBUG"],
  ["I".charCodeAt(0), "INFO"],
  ["W".charCodeAt(0), "WARNING"],
  ["E".charCodeAt(0), "ERROR"],
  ["C".charCodeAt(0), "CRITICAL"],
]);
/** What a line costs at least, so that a flood of empty lines is a flood too. */
const MIN_LINE_COST = 16;

/** What one execution may still log, shared by its stdout and stderr. Settled once: after the marker nothing more passes. */
export interface LogBudget {
  /** Whether a line of this many bytes may pass; says `last` for the line that no longer does, once. */
  readonly spend: (bytes: number) => "pass" | "last" | "drop";
  readonly limit: number;
}

export function createLogBudget(limit: number): LogBudget {
  let left = limit;
  let exhausted = false;
  return {
    limit,
    spend: (bytes) => {
      if (exhausted) return "drop";
      left -= Math.max(bytes, MIN_LINE_COST);
      if (left >= 0) return "pass";
      exhausted = true;
      return "last";
    },
  };
}

export interface LogSplitter {
  readonly push: (chunk: Buffer) => void;
  /** Emits what stands after the last newline. */
  readonly end: () => void;
}

export interface LogSplitterOptions {
  /** Severity of lines without a mark. */
  readonly severity: Severity;
  /** Longest line in bytes; the rest of a longer one is cut off and said so. */
  readonly lineBytes: number;
  readonly budget: LogBudget;
  readonly now: () => number;
  readonly emit: (lines: readonly LogLine[]) => void;
}

/** Bytes of a stream -> log lines. Keeps reading when the budget is spent: a writer must never block on a full pipe. */
export function createLogSplitter(options: LogSplitterOptions): LogSplitter {
  const { lineBytes, budget } = options;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let lineSize = 0;

  function keep(part: Buffer): void {
    lineSize += part.length;
    if (keptBytes < lineBytes && part.length > 0) {
      const piece = part.subarray(0, lineBytes - keptBytes);
      kept.push(piece);
      keptBytes += piece.length;
    }
  }

  function takeLine(lines: LogLine[], time: number): void {
    const first = kept[0];
    const line = kept.length === 1 && first !== undefined ? first : Buffer.concat(kept);
    const size = lineSize;
    kept = [];
    keptBytes = 0;
    lineSize = 0;
    const verdict = budget.spend(line.length);
    if (verdict === "pass") lines.push(readLine(line, size, options.severity, time));
    if (verdict === "last")
      lines.push({
        time,
        severity: "WARNING",
        message: `[log limit of ${budget.limit} bytes reached: further output is dropped]`,
      });
  }

  function push(chunk: Buffer): void {
    const lines: LogLine[] = [];
    const time = options.now();
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      keep(chunk.subarray(from, end));
      takeLine(lines, time);
      from = end + 1;
    }
    keep(chunk.subarray(from));
    if (lines.length > 0) options.emit(lines);
  }

  return {
    push,
    end: () => {
      if (lineSize === 0) return;
      const lines: LogLine[] = [];
      takeLine(lines, options.now());
      if (lines.length > 0) options.emit(lines);
    },
  };
}

function readLine(line: Buffer, size: number, plain: Severity, time: number): LogLine {
  const marked = line[0] === MARK ? SEVERITIES.get(line[1] ?? 0) : undefined;
  const start = marked === undefined ? 0 : 2;
  const end =
    line.length > start && line[line.length - 1] === 13 && size === line.length
      ? line.length - 1
      : line.length;
  const text = cleanText(line.toString("utf8", start, end));
  const message = size > line.length ? `${text} [line cut: ${size} bytes]` : text;
  return { time, severity: marked ?? plain, message };
}

/** NUL cannot be stored by PostgreSQL's text type; everything else can, since decoding left no lone surrogate. */
export function cleanText(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text;
}
