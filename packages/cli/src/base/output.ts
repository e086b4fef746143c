import { KILOBYTE } from "@platform/engine/base/bytes";

/** Where text goes; `isTerminal` decides about colours and moving progress. */
interface TextSink {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
}

export interface OutputOptions {
  readonly out: TextSink;
  readonly err: TextSink;
  readonly isJson: boolean;
  readonly noColor: boolean;
}

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const STYLES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

/** In a group: split then keeps the parts between. */
const OWN_STYLES = new RegExp(`(\u001B\\[(?:${[0, ...Object.values(STYLES)].join("|")})m)`);

/** One running piece of work on standard error: a moving line on a terminal, one line per step elsewhere. */
export interface Progress {
  /** A new step: shown everywhere. */
  readonly step: (text: string) => void;
  /** How far the step is: shown on a terminal only. */
  readonly detail: (text: string) => void;
  /** Prints a line that stays, above the moving one. */
  readonly print: (text: string) => void;
  readonly stop: () => void;
}

/** Results go to standard output, everything else to standard error. With `--json`, standard output holds one JSON value. */
export interface Output {
  readonly isJson: boolean;
  /** Whether standard output holds anything yet. */
  readonly hasWritten: () => boolean;
  /** A line for people on standard output; nothing with `--json`. */
  readonly print: (text: string) => void;
  readonly printTable: (header: readonly string[], rows: readonly (readonly string[])[]) => void;
  /** Text as it is on standard output, in both modes: for values and streams. */
  readonly write: (text: string) => void;
  /** A line on standard error. */
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly startProgress: (text: string) => Progress;
  /** For text on standard output. */
  readonly paint: (style: Style, text: string) => string;
  /** For text on standard error. */
  readonly paintNote: (style: Style, text: string) => string;
}

/**
 * The two streams of the CLI, used as `Output` says. What is printed may hold text of a service or a server: no control
 * character of it gets through but line ends, tabs, and the colours that we set.
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
    printTable: (header, rows) => {
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
const FRAME_MILLISECONDS = 100;
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
  }, FRAME_MILLISECONDS);
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
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines.map((line) =>
    widths
      .map((width, column) => (line[column] ?? "").padEnd(width))
      .join(COLUMN_GAP)
      .trimEnd(),
  );
}

/** Takes out what could steer the terminal: names, logs and messages were written by others. */
export function cleanText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  return text.replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, "");
}

/** The same, but for the colours that we set ourselves. */
function keepStyles(text: string): string {
  return text
    .split(OWN_STYLES)
    .map((part, index) => (index % 2 === 1 ? part : cleanText(part)))
    .join("");
}

/** Escapes what JSON.stringify leaves as it is and a terminal obeys: in JSON such characters stand within texts only. */
export function escapeControls(text: string): string {
  return text.replace(
    /[\u007F-\u009F]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** `1.5 MB`, in steps of 1024. */
export function formatSize(bytes: number): string {
  if (bytes < KILOBYTE) return `${bytes} bytes`;
  if (bytes < KILOBYTE * KILOBYTE) return `${(bytes / KILOBYTE).toFixed(1)} KB`;
  return `${(bytes / KILOBYTE / KILOBYTE).toFixed(1)} MB`;
}
