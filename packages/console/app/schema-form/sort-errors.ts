import type { FieldError } from "@platform/contract/problems";
import type { JsonPath } from "../util/edit-json.ts";

/**
 * What is wrong, by the pointer of the field that shows it: that of the part, else of what has it; under "" what no field has. Parts of
 * a field of JSON have none, and nothing of a refusal may be lost.
 */
export function sortErrors(
  errors: readonly FieldError[],
  pointers: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const sorted = new Map<string, string>();
  for (const { path, message } of errors) {
    const steps = path.replace(/^#/u, "").split("/");
    const ways = steps.map((_, index) => steps.slice(0, steps.length - index).join("/"));
    const pointer = ways.find((way) => pointers.has(way)) ?? "";
    const words = pointer === ways[0] ? message : `${path} ${message}`.trim();
    const former = sorted.get(pointer);
    sorted.set(pointer, former === undefined ? words : `${former} ${words}`);
  }
  return sorted;
}

/** RFC 6901. */
export function toPointer(path: JsonPath): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
