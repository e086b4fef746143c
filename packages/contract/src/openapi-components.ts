import type { TSchema } from "typebox";

type Json = Readonly<Record<string, unknown>>;

/** The schemas of one document that have a title: each stands once below `components`, and everything else refers to it. */
export interface Components {
  /** The schema as the document has it: a reference where it has a title. */
  readonly refer: (schema: TSchema) => Json;
  readonly schemas: () => Readonly<Record<string, Json>>;
}

export function createComponents(): Components {
  const known = new Map<string, Json>();
  const write = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(write);
    return isObject(value) ? refer(value) : value;
  };
  const refer = (schema: object): Json => {
    const { title, ...rest } = schema as Json;
    const written = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, write(value)]));
    // A property may be called title as well; its value is a schema.
    if (typeof title !== "string") return title === undefined ? written : { title: write(title), ...written };
    addSchema(known, title, written);
    return { $ref: `#/components/schemas/${title}` };
  };
  return {
    refer,
    schemas: () => Object.fromEntries([...known].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** @throws Error where two different schemas have one title */
function addSchema(known: Map<string, Json>, title: string, schema: Json): void {
  const present = known.get(title);
  if (present !== undefined && JSON.stringify(present) !== JSON.stringify(schema))
    throw new Error(`Two different schemas have the title ${title}.`);
  known.set(title, schema);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
