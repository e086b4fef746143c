import { KILOBYTE } from "@platform/engine/base/bytes";

/** A stream for text. */
interface TextSink {
  readonly write: (text: string) => void;
  /** Whether colours and animated progress may be used. */
  readonly isTerminal: boolean;
}

/** Where and how the CLI writes. */
export interface OutputOptions {
  /** Standard output. */
  readonly out: TextSink;
  /** Standard error. */
  readonly err: TextSink;
  /** Whether the command line has `--json`. */
  readonly isJson: boolean;
  readonly noColor: boolean;
}

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const STYLES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

/** Matches the escape sequences of `STYLES`. The group makes `split` keep them. */
const OWN_STYLES = new RegExp(`(\u001B\\[(?:${[0, ...Object.values(STYLES)].join("|")})m)`);

/** Progress of one task on standard error: an animated line on a terminal, else one line per step. */
export interface Progress {
  /** Starts a new step. Shown in both forms. */
  readonly step: (text: string) => void;
  /** Shows how far the current step is. Shown on a terminal only. */
  readonly detail: (text: string) => void;
  /** Prints a permanent line, above the animated one. */
  readonly print: (text: string) => void;
  /** Ends the progress and removes the animated line. */
  readonly stop: () => void;
}

/** Output of a command. Results go to standard output, everything else to standard error. With `--json`, standard output has one JSON value. */
export interface Output {
  readonly isJson: boolean;
  /** Whether anything was written to standard output. */
  readonly hasWritten: () => boolean;
  /** Prints a line on standard output; does nothing with `--json`. */
  readonly print: (text: string) => void;
  /** Prints an aligned table on standard output, the header in bold, each row a line, and `empty` in place of one without rows; does nothing with `--json`. */
  readonly printTable: (
    header: readonly string[],
    rows: readonly (readonly string[])[],
    empty?: string,
  ) => void;
  /** Writes text to standard output, with and without `--json`. No line break is added. */
  readonly write: (text: string) => void;
  /** Prints a line on standard error. */
  readonly note: (text: string) => void;
  /** Prints a line on standard error, after `warning:`. */
  readonly warn: (text: string) => void;
  /** Starts to show progress; `text` is the first step. */
  readonly startProgress: (text: string) => Progress;
  /** Colours text for standard output, if that is a terminal. */
  readonly paint: (style: Style, text: string) => string;
  /** Colours text for standard error, if that is a terminal. */
  readonly paintNote: (style: Style, text: string) => string;
}

/**
 * Creates the output of a command. Printed text may come from a service or a server and be hostile: control characters are removed,
 * except for line breaks, tabs, and the colours of `paint` and `paintNote`.
 */
export function createOutput(options: OutputOptions): Output {
  const { out, err, isJson } = options;
  const paint = createPaint(out.isTerminal && !options.noColor);
  const paintNote = createPaint(err.isTerminal && !options.noColor);
  let hasWritten = false;
  const write = (text: string) => {
    hasWritten = true;
    out.write(escapeControls(text));
  };
  const print = (text: string) => {
    if (isJson) return;
    hasWritten = true;
    out.write(`${keepStyles(text)}\n`);
  };
  const note = (text: string) => err.write(`${keepStyles(text)}\n`);
  return {
    isJson,
    hasWritten: () => hasWritten,
    print,
    printTable: (header, rows, empty) => {
      if (empty !== undefined && rows.length === 0) print(empty);
      else
        for (const [index, line] of formatTable(header, rows).entries())
          print(index === 0 ? paint("bold", line) : line);
    },
    write,
    note,
    warn: (text) => note(`${paintNote("yellow", "warning:")} ${text}`),
    startProgress: (text) =>
      err.isTerminal ? startMovingProgress(err, text, paintNote) : startPlainProgress(err, text),
    paint,
    paintNote,
  };
}

function createPaint(isOn: boolean): (style: Style, text: string) => string {
  return (style, text) => (isOn ? `\u001B[${STYLES[style]}m${text}\u001B[0m` : text);
}

function startPlainProgress(err: TextSink, text: string): Progress {
  const write = (line: string) => err.write(`${keepStyles(line)}\n`);
  write(text);
  return { step: write, detail: () => undefined, print: write, stop: () => undefined };
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const CLEAR_LINE = "\r\u001B[2K";

function startMovingProgress(
  err: TextSink,
  text: string,
  paint: (style: Style, text: string) => string,
): Progress {
  let step = text;
  let detail = "";
  let frame = 0;
  const draw = () =>
    err.write(
      `${CLEAR_LINE}${paint("cyan", FRAMES[frame % FRAMES.length] ?? "")} ${keepStyles(step)} ${paint("dim", cleanText(detail))}`,
    );
  const timer = setInterval(() => {
    frame += 1;
    draw();
  }, FRAME_MS);
  draw();
  return {
    step: (next) => {
      step = next;
      detail = "";
      draw();
    },
    detail: (next) => {
      detail = next;
    },
    print: (line) => {
      err.write(`${CLEAR_LINE}${keepStyles(line)}\n`);
      draw();
    },
    stop: () => {
      clearInterval(timer);
      err.write(CLEAR_LINE);
    },
  };
}

const COLUMN_GAP = "  ";

function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const lines = [header, ...rows].map((cells) => cells.map(joinLines));
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines.map((line) =>
    widths
      .map((width, column) => (line[column] ?? "").padEnd(width))
      .join(COLUMN_GAP)
      .trimEnd(),
  );
}

/** Removes control characters, which could control the terminal, from text of a service or a server. Keeps line feeds and tabs. */
export function cleanText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  return text.replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, "");
}

/** Text of others as a part of a line: cleaned, and unable to begin another one or to turn the direction of what follows. */
export function cleanLine(text: string): string {
  return cleanText(joinLines(text));
}

function joinLines(text: string): string {
  return text
    .replace(/[\t\n\u2028\u2029]+/gu, " ")
    .replace(/[\r\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, "");
}

/** Like `cleanText`, but keeps the colours of `paint`. */
function keepStyles(text: string): string {
  return text
    .split(OWN_STYLES)
    .map((part, index) => (index % 2 === 1 ? part : cleanText(part)))
    .join("");
}

/** Escapes the control characters of a JSON text that `JSON.stringify` does not escape. They occur in strings only, so the value is the same. */
export function escapeControls(text: string): string {
  return text.replace(
    /[\u007F-\u009F]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Formats a size with a unit, such as `1.5 MB`; 1 KB is 1024 bytes. */
export function formatSize(bytes: number): string {
  if (bytes < KILOBYTE) return `${bytes} bytes`;
  if (bytes < KILOBYTE * KILOBYTE) return `${(bytes / KILOBYTE).toFixed(1)} KB`;
  return `${(bytes / KILOBYTE / KILOBYTE).toFixed(1)} MB`;
}
