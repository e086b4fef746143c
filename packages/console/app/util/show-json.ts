import { ExactNumber } from "@platform/contract/exact-number";
import { escapeUnseen } from "@platform/contract/snippets/texts";

/** So wide that a block of code beside a form shows it without scrolling. */
const MOST_COLUMNS = 76;

/**
 * A value as JSON text for people: indented, but arrays and objects that hold nothing nested, and fit, in one line. A list of 52 points is
 * 52 lines then, not 210. What would not be seen is escaped.
 */
export function showJson(value: unknown, indent = ""): string {
  if (!isNested(value)) return write(value);
  const parts = Array.isArray(value)
    ? value.map((item: unknown) => ({ name: "", item }))
    : Object.entries(value).map(([name, item]: [string, unknown]) => ({
        name: `${write(name)}: `,
        item,
      }));
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return `${open}${close}`;
  if (!parts.some(({ item }) => isNested(item))) {
    const pad = Array.isArray(value) ? "" : " ";
    const line = `${open}${pad}${parts.map(({ name, item }) => `${name}${write(item)}`).join(", ")}${pad}${close}`;
    if (indent.length + line.length <= MOST_COLUMNS) return line;
  }
  const within = `${indent}  `;
  const lines = parts.map(({ name, item }) => `${within}${name}${showJson(item, within)}`);
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function write(value: unknown): string {
  return escapeUnseen(JSON.stringify(value));
}

/** A number whose digits are kept is an object of ours, and none of the value's. */
function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null && !(value instanceof ExactNumber);
}

/** Without the indentation that a part of a JSON text has from where it stands; a text of JSON has no lines of its own to lose. */
export function dedent(part: string): string {
  const [first = "", ...lines] = part.split("\n");
  const depth = Math.min(...lines.map((line) => line.length - line.trimStart().length));
  return Number.isFinite(depth) && depth > 0
    ? [first, ...lines.map((line) => line.slice(depth))].join("\n")
    : part;
}
