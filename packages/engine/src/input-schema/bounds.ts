import { ExactNumber, measureExpanded } from "@platform/contract/exact-number";
import { isContainer, isDeeperThan } from "../base/json.ts";

/** Maximum nesting of a schema's JSON; pydantic derives about six levels for a model in a list in a model. */
const MAX_DEPTH = 100;
const MAX_TEXT_BYTES = 64 * 1024;
const NUL = "\0";
const HALF_PAIR = /\p{Surrogate}/u;

/**
 * Why a schema is not stored, as the end of a sentence; null for one that can be stored, shown and read. Code that runs
 * after this check may recurse over the schema.
 */
export function findExcess(schema: unknown): string | null {
  if (isDeeperThan(schema, MAX_DEPTH)) return `is nested deeper than ${MAX_DEPTH} levels`;
  const text = JSON.stringify(schema);
  // Stored, a number stands there without a power of ten: a few characters could become thousands.
  if (Buffer.byteLength(text) + measureExact(schema) > MAX_TEXT_BYTES)
    return `is larger than ${MAX_TEXT_BYTES} bytes`;
  if (!hasOnlyStorableText(schema)) return "has a null character or half a surrogate pair in a text";
  return null;
}

/** A stored schema; null for one that exceeds the bounds because it was stored before they existed. */
export function readStoredSchema<S extends object>(schema: S | null): S | null {
  return schema === null || findExcess(schema) !== null ? null : schema;
}

function measureExact(value: unknown): number {
  if (value instanceof ExactNumber) return measureExpanded(value);
  if (!isContainer(value)) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + measureExact(member), 0);
}

/** Whether PostgreSQL's jsonb can store the text. */
function hasOnlyStorableText(value: unknown): boolean {
  if (typeof value === "string") return !value.includes(NUL) && !HALF_PAIR.test(value);
  if (!isContainer(value)) return true;
  return Object.entries(value).every(
    ([key, member]) => hasOnlyStorableText(key) && hasOnlyStorableText(member),
  );
}
