import type { ExactValue } from "./exact-json.ts";
import { parseExact } from "./exact-json.ts";

/** Names of members and numbers of items, from the whole to a part. */
export type JsonPath = readonly (string | number)[];

/** One part of a JSON value is replaced. */
interface Edit {
  readonly path: JsonPath;
  /** JSON text; null: it is taken out. */
  readonly text: string | null;
}

const INDENT = "  ";

/**
 * A JSON text with one part replaced, taken out, or put in; all other numbers keep their digits. What is on the way and not there yet is
 * made. A text that is no JSON stays as it is.
 */
export function editJson(text: string, path: JsonPath, part: string | null): string {
  const value = parseExact(text);
  return value === null ? text : (print(value, { path, text: part }, "") ?? text);
}

function print(value: ExactValue | undefined, edit: Edit | null, indent: string): string | null {
  if (edit !== null && edit.path.length === 0) return edit.text;
  const isList = edit === null ? value?.kind === "array" : typeof edit.path[0] === "number";
  if (edit === null && value?.kind === "scalar") return value.text;
  return isList ? printItems(value, edit, indent) : printMembers(value, edit, indent);
}

function printItems(value: ExactValue | undefined, edit: Edit | null, indent: string): string {
  const items = value?.kind === "array" ? value.items : [];
  const at = edit === null ? -1 : Number(edit.path[0]);
  const count = Math.max(items.length, Math.min(at, items.length) + 1);
  const parts = Array.from({ length: count }, (_, index) =>
    print(items[index], index === at ? enter(edit) : null, indent + INDENT),
  );
  return wrap("[", parts.filter(isThere), "]", indent);
}

function printMembers(value: ExactValue | undefined, edit: Edit | null, indent: string): string {
  const members = value?.kind === "object" ? value.members : new Map<string, ExactValue>();
  const changed = edit === null ? null : String(edit.path[0]);
  const names = new Set([...members.keys(), ...(changed === null ? [] : [changed])]);
  const parts = [...names].map((name) => {
    const part = print(members.get(name), name === changed ? enter(edit) : null, indent + INDENT);
    return part === null ? null : `${JSON.stringify(name)}: ${part}`;
  });
  return wrap("{", parts.filter(isThere), "}", indent);
}

function enter(edit: Edit | null): Edit | null {
  return edit === null ? null : { ...edit, path: edit.path.slice(1) };
}

function isThere(part: string | null): part is string {
  return part !== null;
}

function wrap(opening: string, parts: readonly string[], closing: string, indent: string): string {
  if (parts.length === 0) return opening + closing;
  const inner = indent + INDENT;
  return `${opening}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${closing}`;
}
