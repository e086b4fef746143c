import { CHUNK_COST } from "../wire/pace.ts";
import { cleanText } from "../wire/untrusted-text.ts";
import type { LogLine } from "../port/runtime.ts";

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
/** A line is kept as a JSON object, with a comma: all of it but the text of its severity and message. */
const ROW_BYTES = '{"timestamp":"2026-11-21 00:00:00","severity":"","message":},'.length;
/** Of a chunk that is only dropped, or only searched for its end, so many bytes cost as much as one that is rendered. */
const CHEAP_BYTES = 8;
/** A line that comes byte by byte must not become a list of thousands of buffers, each of which keeps its chunk alive. */
const MAX_PARTS = 64;

/** What one execution may still log, shared by its stdout and stderr. Settled once: after the marker nothing more passes. */
interface LogBudget {
  /** Whether a line may pass that takes so many bytes as it is kept; says `last` for the line that no longer does, once. */
  readonly spend: (renderedBytes: number) => "pass" | "last" | "drop";
  readonly isSpent: () => boolean;
  /** Bytes. */
  readonly limit: number;
}

/** `limit` in bytes, as lines are kept. The first line that exceeds it ends it. */
export function createLogBudget(limit: number): LogBudget {
  let left = limit;
  let exhausted = false;
  return {
    limit,
    isSpent: () => exhausted,
    spend: (renderedBytes) => {
      if (exhausted) return "drop";
      left -= renderedBytes;
      if (left >= 0) return "pass";
      exhausted = true;
      return "last";
    },
  };
}

/** What came of a chunk. */
export interface SplitLines {
  readonly lines: readonly LogLine[];
  /** What the lines take as they are kept. */
  readonly bytes: number;
  /** In units of `Pace`. */
  readonly cost: number;
  /** What did not fit into the allowance. */
  readonly rest: Buffer | null;
}

/** The state of one stream between two chunks. */
export interface LogSplitter {
  /** Splits as much as costs about `allowance`, one line at least. */
  readonly split: (chunk: Buffer, allowance: number) => SplitLines;
  /** What stands after the last newline. */
  readonly end: () => SplitLines;
}

/** How the lines of one stream are read. */
interface LogSplitterOptions {
  /** Severity of lines without a mark. */
  readonly severity: Severity;
  /** Longest line in bytes; the rest of a longer one is cut off and said so. */
  readonly lineBytes: number;
  readonly budget: LogBudget;
  /** Milliseconds since the epoch; read once for all lines that one call splits. */
  readonly now: () => number;
}

/** Bytes of a stream -> log lines. Once the budget is spent chunks are dropped unseen: a writer must never block for good. */
export function createLogSplitter(options: LogSplitterOptions): LogSplitter {
  const { lineBytes, budget } = options;
  const begun = createBegunLine(lineBytes);

  /** Adds the line that has begun, or the marker; returns the bytes it takes as it is stored. */
  function takeLine(lines: LogLine[], time: number): number {
    const { text, size } = begun.take();
    const line = readLine(text, size, options.severity, time);
    const bytes = ROW_BYTES + line.severity.length + Buffer.byteLength(JSON.stringify(line.message));
    const verdict = budget.spend(bytes);
    if (verdict === "pass") lines.push(line);
    if (verdict === "last")
      lines.push({
        time,
        severity: "WARNING",
        message: `[log limit of ${budget.limit} bytes reached: further output is dropped]`,
      });
    return bytes;
  }

  function split(chunk: Buffer, allowance: number): SplitLines {
    const lines: LogLine[] = [];
    const time = options.now();
    let bytes = 0;
    let from = 0;
    while (!budget.isSpent()) {
      const end = chunk.indexOf(NEWLINE, from);
      begun.add(chunk.subarray(from, end < 0 ? chunk.length : end));
      from = end < 0 ? chunk.length : end + 1;
      if (end >= 0) bytes += takeLine(lines, time);
      const cost = CHUNK_COST + bytes + Math.ceil(from / CHEAP_BYTES);
      if (from >= chunk.length) return { lines, bytes, cost, rest: null };
      if (cost >= allowance) return { lines, bytes, cost, rest: chunk.subarray(from) };
    }
    return { lines, bytes, cost: CHUNK_COST + bytes + Math.ceil(chunk.length / CHEAP_BYTES), rest: null };
  }

  return {
    split,
    end: () => {
      const lines: LogLine[] = [];
      const bytes = begun.size() === 0 || budget.isSpent() ? 0 : takeLine(lines, options.now());
      return { lines, bytes, cost: bytes, rest: null };
    },
  };
}

/** A line whose end has not come yet, cut to what is stored of it. */
interface BegunLine {
  readonly add: (part: Buffer) => void;
  /** Bytes that came of it, the ones cut off included. */
  readonly size: () => number;
  readonly take: () => { readonly text: Buffer; readonly size: number };
}

function createBegunLine(maxBytes: number): BegunLine {
  let parts: Buffer[] = [];
  let bytes = 0;
  let size = 0;
  return {
    add: (part) => {
      size += part.length;
      if (bytes >= maxBytes || part.length === 0) return;
      const piece = part.subarray(0, maxBytes - bytes);
      parts.push(piece);
      bytes += piece.length;
      if (parts.length >= MAX_PARTS) parts = [Buffer.concat(parts)];
    },
    size: () => size,
    take: () => {
      const [first] = parts;
      const taken = { text: parts.length === 1 && first !== undefined ? first : Buffer.concat(parts), size };
      parts = [];
      bytes = 0;
      size = 0;
      return taken;
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
