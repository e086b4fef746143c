import { isContainer, isDeeperThan } from "../base/json-depth.ts";

/** Levels of nesting of a schema's JSON; what pydantic derives has about six for a model in a list in a model. */
const MAX_DEPTH = 100;
const MAX_TEXT_BYTES = 64 * 1024;
const NUL = "\0";
const HALF_PAIR = /\p{Surrogate}/u;

/**
 * Why a schema is not kept at all, as the end of a sentence; null for one that can be stored, shown and read. Everything
 * after this may recurse over it.
 */
export function findExcess(schema: unknown): string | null {
  if (isDeeperThan(schema, MAX_DEPTH)) return `is nested deeper than ${MAX_DEPTH} levels`;
  const text = JSON.stringify(schema);
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) return `is larger than ${MAX_TEXT_BYTES} bytes`;
  if (!hasOnlyStorableText(schema)) return "has a null character or half a surrogate pair in a text";
  return null;
}

/** A schema as it was stored; null for one from before these bounds that exceeds them. */
export function readStoredSchema<S extends object>(schema: S | null): S | null {
  return schema === null || findExcess(schema) !== null ? null : schema;
}

/** What PostgreSQL's jsonb takes. */
function hasOnlyStorableText(value: unknown): boolean {
  if (typeof value === "string") return !value.includes(NUL) && !HALF_PAIR.test(value);
  if (!isContainer(value)) return true;
  return Object.entries(value).every(
    ([key, member]) => hasOnlyStorableText(key) && hasOnlyStorableText(member),
  );
}
