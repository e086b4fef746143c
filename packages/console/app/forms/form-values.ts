import { Errors } from "typebox/schema";
import type { TSchema } from "typebox";
import { decodePointer } from "@platform/contract/schemas";
import type { FieldError } from "@platform/contract/problems";
import { putInWords } from "./error-words.ts";

/** What the fields of a form hold: by name, nested as the body is. */
export type FormValues = Record<string, unknown>;

/** A field that is left empty is not sent: the operation's default holds. */
export function toBody(values: FormValues): FormValues {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== "" && value !== undefined),
  );
}

/** What is wrong with a body, by the schema that the server checks it with. */
export function findErrors(schema: TSchema, body: unknown): readonly FieldError[] {
  const [isRight, errors] = Errors(schema, body);
  if (isRight) return [];
  return errors.flatMap((error) => {
    const missing = (error.params as { readonly requiredProperties?: readonly string[] }).requiredProperties;
    if (missing !== undefined)
      return missing.map((name) => ({ path: `${error.instancePath}/${name}`, message: "is required" }));
    return [{ path: error.instancePath, message: error.message }];
  });
}

/** Names of fields with what is wrong with each; what belongs to no field is under "". */
export function sortByField(
  errors: readonly FieldError[],
  names: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const sorted: Record<string, string> = {};
  for (const { path, message: told } of errors) {
    const message = putInWords(told);
    const name = path.replace(/^#?\//u, "").split("/").map(decodePointer).join(".");
    const field = names.has(name) ? name : (name.split(".")[0] ?? "");
    const key = names.has(field) ? field : "";
    sorted[key] ??= key === "" && name !== "" ? `${name} ${message}` : toSentence(message);
  }
  return sorted;
}

function toSentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}

/** Names of all fields, those within a part of the body with the name of their part: `limits.perMonth`. */
export function listFieldNames(values: FormValues, within = ""): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? listFieldNames(value as FormValues, `${within}${name}.`)
      : [`${within}${name}`],
  );
}

/** The values without what is left empty, at any depth: no text, no list item, no field. */
export function withoutEmpty(values: FormValues): FormValues {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      if (value === "" || value === undefined) return [];
      if (Array.isArray(value)) return value.length === 0 ? [] : [[name, value]];
      if (typeof value !== "object" || value === null) return [[name, value]];
      const rest = withoutEmpty(value as FormValues);
      return Object.keys(rest).length === 0 ? [] : [[name, rest]];
    }),
  );
}

/** The values as fields hold them: what is null is an empty field. */
export function toFields(values: object): FormValues {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]: [string, unknown]) => {
      if (value === null) return [name, ""];
      return [name, typeof value === "object" && !Array.isArray(value) ? toFields(value) : value];
    }),
  );
}
