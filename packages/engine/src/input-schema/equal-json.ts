import { spend } from "./schema-node.ts";
import type { Walk } from "./schema-node.ts";

/** Whether two JSON values are equal, with keys in any order. @throws WalkTooLong */
export function equalJson(a: unknown, b: unknown, walk: Walk): boolean {
  spend(walk, 1);
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  const others = Object.keys(b);
  // The comparison is charged even when only the sizes differ.
  spend(walk, keys.length + others.length);
  if (keys.length !== others.length) return false;
  return keys.every(
    (key) => Object.hasOwn(b, key) && equalJson(readMember(a, key), readMember(b, key), walk),
  );
}

function readMember(value: object, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key];
}
