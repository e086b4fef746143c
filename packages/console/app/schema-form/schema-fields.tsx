import { Button, Group, Input, NativeSelect, Stack, Text, TextInput, Textarea } from "@mantine/core";
import { useState } from "react";
import { editJson } from "../util/edit-json.ts";
import type { JsonPath } from "../util/edit-json.ts";
import { parseExact } from "../util/exact-json.ts";
import type { ExactValue } from "../util/exact-json.ts";
import { asSchema } from "../util/json-schema.ts";
import type { Schema } from "../util/json-schema.ts";
import { listFields } from "./list-fields.ts";
import type { Field } from "./list-fields.ts";

/** Larger texts are edited as JSON: each change of a field lays all of it out again. */
const MOST_CHARACTERS = 100_000;

interface SchemaFieldsProps {
  readonly schema: Schema;
  /** JSON text, in which the fields read and write. */
  readonly text: string;
  readonly change: (text: string) => void;
  /** What is wrong with parts of it, by JSON Pointer. */
  readonly errors: ReadonlyMap<string, string>;
}

/** Whether a text can be shown in fields: not where it says more than the schema, e.g. `dataRef` in place of `data`. */
export function hasFields(schema: Schema | null, text: string): boolean {
  if (schema === null || text.length > MOST_CHARACTERS) return false;
  const value = parseExact(text);
  if (value?.kind !== "object") return false;
  const known = asSchema(schema["properties"]);
  return (
    [...value.members].every(([name, member]) => Object.hasOwn(known, name) || isEmpty(member)) &&
    listFields(schema, value).fields.length > 0
  );
}

function isEmpty(value: ExactValue): boolean {
  return value.kind === "object" && value.members.size === 0;
}

/** A JSON text as fields, made of its schema: what they change is changed in the text alone, so that numbers keep their digits. */
export function SchemaFields({ schema, text, change, errors }: SchemaFieldsProps) {
  const { fields, isWhole } = listFields(schema, parseExact(text));
  const set = (path: JsonPath, part: string | null) => change(editJson(text, path, part));
  return (
    <Stack gap="sm">
      {fields.map((field) => {
        const pointer = toPointer(field.path);
        return (
          <div key={pointer} style={{ marginInlineStart: field.depth * 16 }}>
            <FieldRow field={field} set={set} error={errors.get(pointer) ?? null} />
          </div>
        );
      })}
      {!isWhole && (
        <Text fz="sm" c="dimmed">
          There are more fields than the form shows. All of them are in the JSON.
        </Text>
      )}
    </Stack>
  );
}

/** RFC 6901. */
function toPointer(path: JsonPath): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

interface FieldRowProps {
  readonly field: Field;
  readonly set: (path: JsonPath, part: string | null) => void;
  readonly error: string | null;
}

function FieldRow({ field, set, error }: FieldRowProps) {
  const { path, control } = field;
  const change = (part: string | null) => set(path, part);
  const { kind } = control;
  if (kind === "group" || kind === "list") return <Heading field={field} set={set} error={error} />;
  if (kind === "choice")
    return <Choice field={field} options={control.options} change={change} error={error} />;
  if (kind === "json") return <Json field={field} change={change} error={error} />;
  return <Line field={field} isNumber={kind === "number"} change={change} error={error} />;
}

/** Of an object or a list: what it is, and what puts it there or takes it away. */
function Heading({ field, set, error }: FieldRowProps) {
  const { path, label, control, text, isRequired, isItem } = field;
  const isThere = text !== null && text !== "null";
  return (
    <Input.Wrapper {...toWords(field)} labelElement="div" error={error}>
      <Group gap="xs" mt={4}>
        {control.kind === "list" && (
          <Small
            label={`Add to ${label}`}
            act={() => set([...path, isThere ? control.count : 0], control.added)}
          />
        )}
        {control.kind === "group" && !isThere && !isRequired && (
          <Small label={`Add ${label}`} act={() => set(path, "{}")} />
        )}
        {isThere && (isItem || !isRequired) && (
          <Small label={`Remove ${label}`} act={() => set(path, null)} />
        )}
      </Group>
    </Input.Wrapper>
  );
}

function Small({ label, act }: { readonly label: string; readonly act: () => void }) {
  return (
    <Button size="compact-xs" variant="default" onClick={act}>
      {label}
    </Button>
  );
}

interface EditorProps {
  readonly field: Field;
  readonly change: (part: string | null) => void;
  readonly error: string | null;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/iu;

/** A text or a number. What is no number stands in the JSON as a text until it is one: both always say the same. */
function Line({ field, isNumber, change, error }: EditorProps & { readonly isNumber: boolean }) {
  const { text, isRequired, isItem } = field;
  const write = (given: string) => {
    if (given === "" && (isNumber || !isRequired)) return change(isItem ? "null" : null);
    return change(isNumber && NUMBER.test(given) ? given : JSON.stringify(given));
  };
  const fault =
    isNumber && text !== null && text !== "null" && !NUMBER.test(text) ? "A number is needed" : null;
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <TextInput
        {...toWords(field)}
        style={{ flex: 1 }}
        value={toShown(text)}
        placeholder={toShown(field.fallback)}
        onChange={(event) => write(event.currentTarget.value)}
        error={error ?? fault}
        inputMode={isNumber ? "decimal" : "text"}
        autoComplete="off"
        spellCheck={false}
      />
      {isItem && <Small label={`Remove ${field.label}`} act={() => change(null)} />}
    </Group>
  );
}

/** A string without its quotes, anything else as it stands. */
function toShown(text: string | null): string {
  if (text === null || text === "null") return "";
  if (!text.startsWith('"')) return text;
  const value: unknown = JSON.parse(text);
  return String(value);
}

function Choice({ field, options, change, error }: EditorProps & { readonly options: readonly string[] }) {
  const { text, fallback } = field;
  const unset = fallback === null ? "" : `${toShown(fallback)} (default)`;
  const isKnown = text === null || options.includes(text);
  return (
    <NativeSelect
      {...toWords(field)}
      value={text ?? ""}
      onChange={(event) => change(event.currentTarget.value === "" ? null : event.currentTarget.value)}
      data={[
        { value: "", label: unset },
        ...(isKnown ? [] : [{ value: text, label: `${toShown(text)} (not one of the choices)` }]),
        ...options.map((option) => ({ value: option, label: toShown(option) || option })),
      ]}
      error={error}
    />
  );
}

/** Any JSON. What is typed is kept here until it is JSON, and written when it is. */
function Json({ field, change, error }: EditorProps) {
  const { text, fallback } = field;
  const [draft, setDraft] = useState<string | null>(null);
  const write = (given: string) => {
    const isEmpty = given.trim() === "";
    const isSound = isEmpty || isJson(given);
    setDraft(isSound ? null : given);
    if (isSound) change(isEmpty ? null : given);
  };
  return (
    <Textarea
      {...toWords(field)}
      value={draft ?? text ?? ""}
      placeholder={fallback ?? ""}
      onChange={(event) => write(event.currentTarget.value)}
      error={draft === null ? error : "This is no JSON yet"}
      autosize
      minRows={1}
      maxRows={12}
      spellCheck={false}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
    />
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function toWords({ label, description, isRequired, isItem }: Field) {
  return {
    label,
    withAsterisk: isRequired && !isItem,
    ...(description === "" ? {} : { description }),
  };
}
