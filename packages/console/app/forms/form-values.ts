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

/** What of a body is not as it was when its form was opened. */
export function pickChanged<Body extends object>(
  body: Body,
  begun: Readonly<Record<string, unknown>>,
): Partial<Body> {
  const isChanged = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(begun[name]);
  return Object.fromEntries(Object.entries(body).filter(isChanged)) as Partial<Body>;
}

/** What is wrong with a body, by the schema that the server checks it with. */
export function findErrors(schema: TSchema, body: unknown): readonly FieldError[] {
  const [isRight, errors] = Errors(schema, body);
  if (isRight) return [];
  return errors.flatMap(({ instancePath: path, keyword, params, message }) => {
    const { requiredProperties: missing, additionalProperties: unknown } = params as {
      readonly requiredProperties?: readonly string[];
      readonly additionalProperties?: readonly string[];
    };
    if (missing !== undefined)
      return missing.map((name) => ({ path: `${path}/${name}`, message: "is required" }));
    if (unknown !== undefined)
      return unknown.map((name) => ({ path, message: `has an unknown key ${quote(name)}` }));
    // Of each unknown key, besides the error of its object.
    if (keyword === "boolean") return [];
    return [{ path, message }];
  });
}

const MOST_OF_NAME = 40;

/** A name that may be anything. */
function quote(name: string): string {
  return JSON.stringify(name.length > MOST_OF_NAME ? `${name.slice(0, MOST_OF_NAME)}…` : name);
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

/** The fields to set in a form that was saved, with their values: those that were saved as something else, but none that was changed since it was sent. */
export function listSaved(
  present: FormValues,
  sent: FormValues,
  saved: FormValues,
): readonly (readonly [string, unknown])[] {
  return listFieldNames(saved).flatMap((name) => {
    const isChanged = !isSame(present, sent, name);
    return isChanged || isSame(present, saved, name) ? [] : [[name, readField(saved, name)] as const];
  });
}

/** Whether both hold the same, in all fields of either. */
export function areSame(values: FormValues, others: FormValues): boolean {
  const names = [...listFieldNames(values), ...listFieldNames(others)];
  return names.every((name) => isSame(values, others, name));
}

function isSame(values: FormValues, others: FormValues, name: string): boolean {
  // A field that is not there is empty.
  return JSON.stringify(readField(values, name) ?? "") === JSON.stringify(readField(others, name) ?? "");
}

function readField(values: FormValues, name: string): unknown {
  return name.split(".").reduce<unknown>((part, key) => (part as FormValues | undefined)?.[key], values);
}

/** What is entered in a field of numbers: the kit has "0.50" and "007" as texts until the field is left, and so all of 14 digits and more. */
export function toNumber(entered: string | number): string | number {
  const number = Number(entered);
  return entered === "" || !Number.isFinite(number) ? entered : number;
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
