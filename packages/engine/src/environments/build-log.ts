import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";

// User code decides how much a build prints, so memory and disk must be bounded.
const MAX_LINES = 20_000;
const MAX_LINE_LENGTH = 2_000;
const TAIL_LINES = 200;

/** The log of one build: written to a file line by line. Any number of listeners can follow it from the first line on. */
export interface BuildLog {
  readonly write: (line: string) => void;
  /** Calls the listener for every line so far, then for each new one. Returns a function that stops it. */
  readonly follow: (listener: (line: string) => void) => () => void;
  /** The last lines, even when the log itself was truncated. */
  readonly getTail: () => readonly string[];
  readonly close: () => Promise<void>;
}

/** Creates the file at `path`, which must not exist. Errors of writing it are ignored: the log then continues in memory only. */
export function createBuildLog(path: string): BuildLog {
  const file = createWriteStream(path, { flags: "wx", mode: 0o600 });
  let failed = false;
  // A full disk must not end this process: the build itself fails and reports it.
  file.on("error", () => (failed = true));
  const lines: string[] = [];
  const tail: string[] = [];
  const listeners = new Set<(line: string) => void>();

  function keep(line: string): void {
    lines.push(line);
    if (!failed) file.write(`${line}\n`);
    for (const listener of listeners) listener(line);
  }

  return {
    write(text) {
      const line = text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH)}...` : text;
      tail.push(line);
      if (tail.length > TAIL_LINES) tail.shift();
      if (lines.length < MAX_LINES) keep(line);
      else if (lines.length === MAX_LINES) keep(`(the log ends here: more than ${MAX_LINES} lines)`);
    },
    follow(listener) {
      for (const line of lines) listener(line);
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getTail: () => tail,
    async close() {
      file.end();
      await finished(file).catch(() => undefined);
    },
  };
}

/**
 * The most informative line of a failed build: what pip or uv found wrong, with the requirement's name.
 * Falls back to the last line that is not empty.
 */
export function findReason(tail: readonly string[]): string {
  const lines = tail.map((line) => line.replace(/^[\s×╰─▶│├|>-]+/, "").trim()).filter((line) => line !== "");
  const failedBuild = lines.findLast((line) => /^(Failed to build|Failed building wheel for) /i.test(line));
  const exception = lines.findLast((line) => /^[A-Za-z_.]*(Error|Exception)\b: /.test(line));
  const because = lines.findLast((line) => /^(cause: )?Because /.test(line));
  const cause = lines.findLast((line) => line.startsWith("cause: "));
  const pip = lines.findLast((line) =>
    /^ERROR: (?!.*(exit code|metadata-generation-failed|one or more wheels))/.test(line),
  );
  const plain = lines.findLast((line) => /^(ERROR|error): /.test(line));
  const best =
    because ??
    (failedBuild && exception ? `${failedBuild}: ${exception}` : undefined) ??
    pip ??
    exception ??
    cause;
  return (best ?? plain ?? lines.at(-1) ?? "it printed nothing.").replace(/^(ERROR|error|cause): /, "");
}
