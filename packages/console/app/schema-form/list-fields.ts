import type { ExactValue } from "../util/exact-json.ts";
import type { JsonPath } from "../util/edit-json.ts";
import { asSchema, findDefinition, isSchema } from "../util/json-schema.ts";
import type { Schema } from "../util/json-schema.ts";

/** What edits one part of a value. */
type Control =
  | { readonly kind: "text" | "number" | "json" }
  /** JSON texts to choose from. */
  | { readonly kind: "choice"; readonly options: readonly string[] }
  /** An object, whose members follow it. */
  | { readonly kind: "group" }
  /** An array, whose items follow it. `added`: JSON text of a new item. */
  | { readonly kind: "list"; readonly added: string; readonly count: number };

/** One part of a value, as a form shows it. */
export interface Field {
  readonly path: JsonPath;
  readonly label: string;
  readonly description: string;
  /** Whether its object must have it. */
  readonly isRequired: boolean;
  /** Whether it is an item of a list, which can be taken out. */
  readonly isItem: boolean;
  /** Below how many groups and lists it is. */
  readonly depth: number;
  readonly control: Control;
  /** JSON text of its value; null: it is not there. */
  readonly text: string | null;
  /** JSON text of what is used where it is not there; null: nothing. */
  readonly fallback: string | null;
}

/*
 * The schema is its author's: depth, breadth, references and patterns are not ours to trust. Nothing of it is run, no pattern either: the
 * platform checks what is sent.
 */
const MOST_FIELDS = 200;
const MOST_DEPTH = 6;
const MOST_OPTIONS = 100;
const MOST_ITEMS = 50;
const MOST_WORDS = 300;
/** Of all choices of one field, and of what is used where it is not there: a definition may be referred to by each of the fields. */
const MOST_CHARACTERS = 5_000;

interface Walk {
  readonly root: Schema;
  readonly fields: Field[];
}

type Place = Pick<Field, "path" | "label" | "isRequired" | "isItem" | "depth">;

/** The fields of an object's schema, each with what stands in the value. `isWhole`: there are no more than could be listed. */
export function listFields(
  schema: Schema,
  value: ExactValue | null,
): { readonly fields: readonly Field[]; readonly isWhole: boolean } {
  const walk: Walk = { root: schema, fields: [] };
  addMembers(walk, resolve(schema, schema), value ?? undefined, { path: [], depth: -1 });
  const isWhole = walk.fields.length <= MOST_FIELDS;
  return { fields: walk.fields.slice(0, MOST_FIELDS), isWhole };
}

function addMembers(
  walk: Walk,
  { properties, required }: Schema,
  value: ExactValue | undefined,
  at: Pick<Place, "path" | "depth">,
): void {
  if (!isSchema(properties)) return;
  const needed = new Set(Array.isArray(required) ? required : []);
  for (const [name, schema] of Object.entries(properties)) {
    if (walk.fields.length > MOST_FIELDS) return;
    const place = { path: [...at.path, name], label: name, isRequired: needed.has(name), isItem: false };
    const inner = value?.kind === "object" ? value.members.get(name) : undefined;
    add(walk, schema, inner, { ...place, depth: at.depth + 1 });
  }
}

function add(walk: Walk, given: unknown, value: ExactValue | undefined, place: Place): void {
  const schema = resolve(walk.root, given);
  const control = place.depth >= MOST_DEPTH ? JSON_CONTROL : chooseControl(walk.root, schema, value);
  const { description, title, default: fallback } = { ...asSchema(given), ...schema };
  walk.fields.push({
    ...place,
    description: toWords(description ?? title),
    control,
    text: value?.text ?? null,
    fallback: toFallback(fallback),
  });
  if (control.kind === "group" && (value !== undefined || place.isRequired))
    addMembers(walk, schema, value, place);
  if (control.kind === "list" && value?.kind === "array") addItems(walk, schema["items"], value.items, place);
}

function addItems(walk: Walk, schema: unknown, items: readonly ExactValue[], place: Place): void {
  for (const [index, item] of items.entries())
    if (walk.fields.length <= MOST_FIELDS)
      add(walk, schema, item, {
        path: [...place.path, index],
        label: `${place.label} ${index + 1}`,
        isRequired: true,
        isItem: true,
        depth: place.depth + 1,
      });
}

const JSON_CONTROL = { kind: "json" } as const;

/** What shows both the schema and the value that is there; JSON shows everything. */
function chooseControl(root: Schema, schema: Schema, value: ExactValue | undefined): Control {
  const control = chooseBySchema(root, schema, value?.kind === "array" ? value.items.length : 0);
  return canShow(control, value) ? control : JSON_CONTROL;
}

function canShow({ kind }: Control, value: ExactValue | undefined): boolean {
  if (value === undefined || value.text === "null") return true;
  if (kind === "group") return value.kind === "object";
  if (kind === "list") return value.kind === "array" && value.items.length <= MOST_ITEMS;
  return value.kind === "scalar";
}

function chooseBySchema(root: Schema, schema: Schema, count: number): Control {
  const { type, enum: values, properties, items } = schema;
  const options = "const" in schema ? [schema["const"]] : values;
  if (Array.isArray(options)) return chooseAmong(options);
  switch (type) {
    case "string":
      return { kind: "text" };
    case "number":
    case "integer":
      return { kind: "number" };
    case "boolean":
      return { kind: "choice", options: ["true", "false"] };
    case "object":
      return isSchema(properties) ? { kind: "group" } : JSON_CONTROL;
    case "array":
      return isSchema(items) ? { kind: "list", added: createItem(root, items), count } : JSON_CONTROL;
    default:
      return JSON_CONTROL;
  }
}

function chooseAmong(values: readonly unknown[]): Control {
  if (values.length > MOST_OPTIONS) return JSON_CONTROL;
  const options = values.map(toJson);
  return options.join("").length > MOST_CHARACTERS ? JSON_CONTROL : { kind: "choice", options };
}

/** JSON text of an item that begins empty. */
function createItem(root: Schema, items: Schema): string {
  const { type, default: first, enum: values } = resolve(root, items);
  if (first !== undefined) return JSON.stringify(first);
  if (Array.isArray(values) && values.length > 0) return toJson(values[0]);
  return EMPTY[String(type)] ?? "null";
}

const EMPTY: Readonly<Record<string, string>> = Object.assign(Object.create(null) as Record<string, string>, {
  string: '""',
  number: "0",
  integer: "0",
  boolean: "false",
  object: "{}",
  array: "[]",
});

/** A definition of the same document in place of its reference, and X in place of "X or null"; nothing is fetched. */
function resolve(root: Schema, given: unknown): Schema {
  let schema = asSchema(given);
  // Definitions that name each other would never end.
  for (let steps = 0; steps < 8; steps += 1) {
    const next = findDefinition(root, schema) ?? findOnlyChoice(schema);
    if (next === null) return schema;
    schema = next;
  }
  return {};
}

function findOnlyChoice({ anyOf, oneOf }: Schema): Schema | null {
  const choices = Array.isArray(anyOf) ? anyOf : oneOf;
  if (!Array.isArray(choices) || choices.length > 2) return null;
  const some = choices.filter((one) => !(isSchema(one) && one["type"] === "null"));
  return some.length === 1 ? asSchema(some[0]) : null;
}

function toJson(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

function toFallback(value: unknown): string | null {
  const text = value === undefined ? null : toJson(value);
  return text !== null && text.length > MOST_CHARACTERS ? null : text;
}

function toWords(words: unknown): string {
  return typeof words === "string" ? words.slice(0, MOST_WORDS) : "";
}
