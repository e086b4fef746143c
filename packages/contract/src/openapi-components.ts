import type { TSchema } from "typebox";

/** Part of an OpenAPI document, or a JSON Schema. */
export type Json = Readonly<Record<string, unknown>>;

/** Collects the titled schemas of one document, so that each is written once below `components` and referred to from there. */
export interface Components {
  /**
   * Converts a schema for the document: a `$ref` if it has a title, else the schema itself.
   *
   * @throws Error if two different schemas have the same title
   */
  readonly refer: (schema: TSchema) => Json;
  /** The content of `components.schemas`, sorted by title. */
  readonly schemas: () => Readonly<Record<string, Json>>;
}

/** Starts with an empty collection. */
export function createComponents(): Components {
  const known = new Map<string, Json>();
  const write = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(write);
    return isObject(value) ? refer(value) : value;
  };
  const refer = (schema: object): Json => {
    const { title, ...rest } = schema as Json;
    const written = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, write(value)]));
    // `schema` may also be a map of properties, of which one is named `title`: its value is then a schema, not a string.
    if (typeof title !== "string") return title === undefined ? written : { title: write(title), ...written };
    addSchema(known, title, written);
    return { $ref: `#/components/schemas/${title}` };
  };
  return {
    refer,
    schemas: () => Object.fromEntries([...known].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** @throws Error if two different schemas have the same title */
function addSchema(known: Map<string, Json>, title: string, schema: Json): void {
  const present = known.get(title);
  if (present !== undefined && JSON.stringify(present) !== JSON.stringify(schema))
    throw new Error(`Two different schemas have the title ${title}.`);
  known.set(title, schema);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
