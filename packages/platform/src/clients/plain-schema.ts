/**
 * What is left of a service's JSON Schema for the generator of models. The schema is the text of whoever deployed the service, and the code
 * runs at whoever calls it. So nothing is copied: a new schema is built of the few keywords that models need, with names of a small set of
 * characters and texts that can end no comment and no literal of any language. What does not fit becomes any JSON.
 */

type Json = Readonly<Record<string, unknown>>;

/** A schema of which every text is harmless. */
export type PlainSchema = { readonly [keyword: string]: unknown };

const MAX_DEPTH = 40;
const MAX_NODES = 2_000;
/** Members that are looked at, those of an object again for each of its types: it may have thousands of both. */
const MAX_MEMBERS = 10_000;
const MAX_TEXT = 400;

/** Names reach the wire unchanged, so they are taken as they are or not at all. */
const NAME = /^[A-Za-z0-9._:/@$-][A-Za-z0-9 ._:/@$-]{0,99}$/u;
/** A name that says something in an identifier, too. */
const HAS_LETTER = /[A-Za-z]/u;
/** Names of definitions become names of types. */
const TYPE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,59}$/u;
const LOCAL_REFERENCE = /^#\/\$defs\/([^/~%]+)$/u;

/**
 * Members with these names, written like this or in other ways (`fromInt`, `from-int`), would hide what generated code itself uses: an object
 * with one of them is untyped. Found by generating, compiling and running every name of Python's builtins, of Java's keywords and common
 * classes, and of what the generator writes (`generate-models.test.ts` tries the worst again).
 */
const AWKWARD = new Set(
  "frombool fromdatetime fromdict fromfloat fromint fromlist fromnone fromstr fromunion isinstance obj objs proto staticmethod todict typereference typereferences".split(
    " ",
  ),
);

const SCALARS = new Set(["string", "integer", "number", "boolean", "null"]);

/** Any JSON. */
const ANY: PlainSchema = {};
/** Any JSON object. */
const ANY_OBJECT: PlainSchema = { type: "object", additionalProperties: {} };

/** A schema is too large for models. */
class TooLarge extends Error {}

/**
 * The models' schema: `null` where the schema says nothing about the members, or is too large, so that any object is all that can be said.
 * Takes time in proportion to the schema, and never throws.
 */
export function toPlainSchema(schema: Json): PlainSchema | null {
  const walk = new Walk(readObject(schema["$defs"]));
  try {
    const root = walk.resolveRoot(schema);
    const plain = walk.plain(root, 0);
    if (plain["properties"] === undefined) return null;
    const definitions = walk.finish();
    return Object.keys(definitions).length === 0 ? plain : { ...plain, $defs: definitions };
  } catch (error) {
    if (error instanceof TooLarge) return null;
    throw error;
  }
}

class Walk {
  readonly #definitions: Json;
  readonly #wanted = new Set<string>();
  #nodes = 0;
  #members = 0;

  constructor(definitions: Json) {
    this.#definitions = definitions;
  }

  /** The root may be a reference to a definition that names itself; its members are wanted, not the reference. */
  resolveRoot(schema: Json): Json {
    let found = schema;
    for (let hop = 0; hop < MAX_DEPTH; hop += 1) {
      const name = this.#readReference(found["$ref"]);
      if (name === null) return found;
      found = readObject(this.#definitions[name]);
    }
    return {};
  }

  plain(schema: unknown, depth: number): PlainSchema {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES || depth > MAX_DEPTH) throw new TooLarge();
    const given = readObject(schema);
    return { ...describe(given["description"]), ...this.#shape(given, depth) };
  }

  /** The definitions that were referred to, and those to which they refer. */
  finish(): Readonly<Record<string, PlainSchema>> {
    const done = new Map<string, PlainSchema>();
    // A set visits what is added while it is visited.
    for (const name of this.#wanted) done.set(name, this.plain(this.#definitions[name], 1));
    return Object.fromEntries([...done].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #readReference(reference: unknown): string | null {
    if (typeof reference !== "string") return null;
    const name = LOCAL_REFERENCE.exec(reference)?.[1];
    if (name === undefined || !TYPE_NAME.test(name) || !Object.hasOwn(this.#definitions, name)) return null;
    return isAwkward(name) ? null : name;
  }

  #shape(given: Json, depth: number): PlainSchema {
    if (given["$ref"] !== undefined) return this.#refer(given["$ref"]);
    const choices = given["anyOf"] ?? given["oneOf"];
    if (Array.isArray(choices)) return this.#choose(choices, depth);
    if (Array.isArray(given["enum"])) return enumerate(given["enum"]);
    const { type } = given;
    if (Array.isArray(type)) {
      const types = type.filter((one) => typeof one === "string");
      // No type is there twice in a schema that is one.
      if (types.length > SCALARS.size + 2) return ANY;
      const { properties, required, additionalProperties, items } = given;
      return this.#choose(
        types.map((one) => ({ type: one, properties, required, additionalProperties, items })),
        depth,
      );
    }
    if (type === "array") return this.#list(given, depth);
    if (type === "object" || given["properties"] !== undefined) return this.#object(given, depth);
    return typeof type === "string" && SCALARS.has(type) ? { type } : ANY;
  }

  #refer(reference: unknown): PlainSchema {
    const name = this.#readReference(reference);
    if (name === null) return ANY;
    this.#wanted.add(name);
    return { $ref: `#/$defs/${name}` };
  }

  #choose(choices: readonly unknown[], depth: number): PlainSchema {
    const plain = choices.map((choice) => this.plain(choice, depth + 1));
    const kinds = plain.map(kindOf);
    // One that can be anything makes the others say nothing, and of two objects the generator would make one that has the members of both.
    if (kinds.length === 0 || kinds.includes(null) || new Set(kinds).size < kinds.length) return ANY;
    return plain.length === 1 ? (plain[0] ?? ANY) : { anyOf: plain };
  }

  #list(given: Json, depth: number): PlainSchema {
    return {
      type: "array",
      items: given["items"] === undefined ? ANY : this.plain(given["items"], depth + 1),
    };
  }

  #object(given: Json, depth: number): PlainSchema {
    const properties = Object.entries(readObject(given["properties"]));
    const required = new Set<unknown>(Array.isArray(given["required"]) ? given["required"] : []);
    this.#members += properties.length + required.size;
    if (this.#members > MAX_MEMBERS) throw new TooLarge();
    if (properties.length === 0) {
      const more = given["additionalProperties"];
      const isTyped = typeof more === "object" && more !== null;
      return isTyped ? { type: "object", additionalProperties: this.plain(more, depth + 1) } : ANY_OBJECT;
    }
    if (properties.some(([name]) => !isUsable(name)) || hasTwins(properties.map(([name]) => name)))
      return ANY_OBJECT;
    return {
      type: "object",
      properties: Object.fromEntries(
        properties.map(([name, schema]) => [name, this.plain(schema, depth + 1)]),
      ),
      required: properties.map(([name]) => name).filter((name) => required.has(name)),
    };
  }
}

/** What tells the choices of a union apart; null: it can be anything. */
function kindOf(plain: PlainSchema): string | null {
  if (plain["$ref"] !== undefined) return "object";
  const { type } = plain;
  if (typeof type !== "string") return null;
  return type === "integer" ? "number" : type;
}

function readObject(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** Letters, digits and a few marks: no quote, backslash, star, hash, angle bracket or line break, whatever they are written as. */
function describe(text: unknown): PlainSchema {
  if (typeof text !== "string") return {};
  const harmless = text
    .slice(0, MAX_TEXT)
    .replaceAll(/[^\p{L}\p{N}.,;:()=+-]+/gu, " ")
    .trim();
  return harmless === "" ? {} : { description: harmless };
}

function enumerate(values: readonly unknown[]): PlainSchema {
  const isEnum =
    values.length > 0 &&
    values.length <= 200 &&
    values.every((value) => typeof value === "string" && isUsable(value)) &&
    !hasTwins(values as readonly string[]);
  if (isEnum) return { type: "string", enum: [...values] };
  return values.length > 0 && values.every((value) => typeof value === "string") ? { type: "string" } : ANY;
}

function simplify(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/gu, "").toLowerCase();
}

function isAwkward(name: string): boolean {
  return AWKWARD.has(simplify(name));
}

function isUsable(name: string): boolean {
  return NAME.test(name) && HAS_LETTER.test(name) && !isAwkward(name);
}

/** Names that differ in marks only would get numbers, in an order that is none of ours. */
function hasTwins(names: readonly string[]): boolean {
  return new Set(names.map(simplify)).size < names.length;
}
