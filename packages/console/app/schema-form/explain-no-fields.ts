import { parseExact } from "../util/exact-json.ts";
import type { ExactValue } from "../util/exact-json.ts";
import { asSchema } from "../util/json-schema.ts";
import type { Schema } from "../util/json-schema.ts";
import { listFields } from "./list-fields.ts";

/** Larger texts are edited as JSON: each change of a field lays all of it out again. */
const MOST_CHARACTERS = 100_000;
const MOST_OF_NAME = 40;

/** Why a text of JSON cannot be shown in fields: it may say more than the schema, e.g. `dataRef` in place of `data`. Null: it can. */
export function explainNoFields(schema: Schema, text: string): string | null {
  if (text.length > MOST_CHARACTERS) return "It is too long to be shown in fields.";
  const value = parseExact(text);
  if (value === null) return "It is nested too deeply to be shown in fields.";
  if (value.kind !== "object") return "Only an object can be shown in fields.";
  const known = asSchema(schema["properties"]);
  const more = [...value.members].find(([name, member]) => !Object.hasOwn(known, name) && !isEmpty(member));
  if (more !== undefined) return `There is no field for ${quote(more[0])}, so it is shown as JSON.`;
  return listFields(schema, value).fields.length > 0 ? null : "Its schema names no fields.";
}

/** A name that may be anything. */
function quote(name: string): string {
  return JSON.stringify(name.length > MOST_OF_NAME ? `${name.slice(0, MOST_OF_NAME)}…` : name);
}

function isEmpty(value: ExactValue): boolean {
  return value.kind === "object" && value.members.size === 0;
}
