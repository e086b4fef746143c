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
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) return `is larger than ${MAX_TEXT_BYTES} bytes`;
  if (!hasOnlyStorableText(schema)) return "has a null character or half a surrogate pair in a text";
  return null;
}

/** A stored schema; null for one that exceeds the bounds because it was stored before they existed. */
export function readStoredSchema<S extends object>(schema: S | null): S | null {
  return schema === null || findExcess(schema) !== null ? null : schema;
}

/** Whether PostgreSQL's jsonb can store the text. */
function hasOnlyStorableText(value: unknown): boolean {
  if (typeof value === "string") return !value.includes(NUL) && !HALF_PAIR.test(value);
  if (!isContainer(value)) return true;
  return Object.entries(value).every(
    ([key, member]) => hasOnlyStorableText(key) && hasOnlyStorableText(member),
  );
}
