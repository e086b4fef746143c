import { parseExactNumbers } from "@platform/contract/exact-number";
import { formatDuration } from "../util/times.ts";
import { isObject } from "./read-json.ts";

/** Characters of one value. */
const LONGEST = 200;
const MOST_VALUES = 30;
/** Words of what most backends say. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["seconds", "Took"],
  ["method", "Method"],
  ["seed", "Seed"],
  ["software", "Software"],
  ["digest", "Digest"],
]);

/** What a backend says about how it computed a result, as words to show; empty where it says nothing that is an object. */
export function describeMetadata(text: string): Readonly<Record<string, string>> {
  const metadata = parseExactNumbers(text);
  if (!isObject(metadata)) return {};
  const rows = Object.entries(metadata)
    .slice(0, MOST_VALUES)
    .map(([name, value]) => [NAMES.get(name) ?? name.slice(0, LONGEST), describe(name, value)] as const);
  return Object.fromEntries(rows);
}

function describe(name: string, value: unknown): string {
  if (name === "seconds" && typeof value === "number") return formatDuration(value * 1_000);
  const text =
    name === "software" && isObject(value)
      ? Object.entries(value)
          .map(([library, version]) => `${library} ${toText(version)}`)
          .join(", ")
      : toText(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** A backend may say anything: also an object that `String` fails at. */
function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
