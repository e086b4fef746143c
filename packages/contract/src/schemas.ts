import { Type } from "typebox";
import type { TObjectOptions, TSchema, TSchemaOptions } from "typebox";

/** One of the given strings, written as `enum`: code generators make a type of an `enum`, but not of a union of constants. */
export function StringEnum<const Values extends readonly string[]>(
  values: Values,
  options: TSchemaOptions = {},
) {
  return Type.Unsafe<Values[number]>({ type: "string", enum: [...values], ...options });
}

/** Any JSON object, whatever its members. */
export function JsonObject(description: string) {
  return Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true, description });
}

/** The schema, or `null`. */
export function Nullable<T extends TSchema>(schema: T, options: TSchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options);
}

/** Uses `[0-9]` because `\d` also matches other scripts' digits in some languages. */
const TIMESTAMP_PATTERN =
  "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]) ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$";

/** A time in UTC with a resolution of one second. `description` gets the format appended. */
export function Timestamp(description: string) {
  return Type.String({
    pattern: TIMESTAMP_PATTERN,
    description: `${description}, YYYY-MM-DD HH:MM:SS in UTC`,
    examples: ["2026-11-20 21:17:00"],
  });
}

/** One page of a list. `nextCursor` is null on the last page. `title` names the schema in OpenAPI. */
export function pageOf<T extends TSchema>(title: string, item: T, options: TObjectOptions = {}) {
  return Type.Object(
    {
      items: Type.Array(item, { description: "The items of this page" }),
      nextCursor: Nullable(Type.String(), {
        description: "Pass as `cursor` to read the next page; null on the last page",
      }),
    },
    { title, description: "One page of a list", ...options },
  );
}

/** One part of a JSON pointer in a URI fragment (RFC 6901 6). */
export function decodePointer(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return part;
  }
}
