import { ExactNumber, countDecimals, measureExpanded } from "@platform/contract/exact-number";
import { isContainer, isDeeperThan } from "../base/json.ts";

/** Maximum nesting of a schema's JSON; pydantic derives about six levels for a model in a list in a model. */
const MAX_DEPTH = 100;
const MAX_TEXT_BYTES = 64 * 1024;
/** Of a number in PostgreSQL's numeric, which jsonb has: descriptions of backends and metadata are stored so, schemas and examples as json. The bound of the whole is far below what it takes before the point. */
const MAX_DECIMALS = 16_383;
const NUL = "\0";
const HALF_PAIR = /\p{Surrogate}/u;

/**
 * Why a schema is not stored, as the end of a sentence; null for one that can be stored, shown and read. Code that runs
 * after this check may recurse over the schema.
 */
export function findExcess(schema: unknown): string | null {
  if (isDeeperThan(schema, MAX_DEPTH)) return `is nested deeper than ${MAX_DEPTH} levels`;
  const text = JSON.stringify(schema);
  // What jsonb has stored has a number without its power of ten: a few characters could become thousands.
  if (Buffer.byteLength(text) + measureExact(schema) > MAX_TEXT_BYTES)
    return `is larger than ${MAX_TEXT_BYTES} bytes`;
  if (!hasOnlyStorableNumbers(schema))
    return `has a number with more than ${MAX_DECIMALS} digits behind its point`;
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

/** What is a double has some hundred digits there at most. */
function hasOnlyStorableNumbers(value: unknown): boolean {
  if (value instanceof ExactNumber) return countDecimals(value) <= MAX_DECIMALS;
  return !isContainer(value) || Object.values(value).every(hasOnlyStorableNumbers);
}

/** Whether PostgreSQL can store the text: as jsonb, and as json so that its functions read it. */
function hasOnlyStorableText(value: unknown): boolean {
  if (typeof value === "string") return !value.includes(NUL) && !HALF_PAIR.test(value);
  if (!isContainer(value)) return true;
  return Object.entries(value).every(
    ([key, member]) => hasOnlyStorableText(key) && hasOnlyStorableText(member),
  );
}
