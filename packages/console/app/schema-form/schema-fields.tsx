import { Button, Group, Input, NativeSelect, Stack, Text, TextInput, Textarea } from "@mantine/core";
import type { FieldError } from "@platform/contract/problems";
import { editJson } from "../util/edit-json.ts";
import type { JsonPath } from "../util/edit-json.ts";
import { parseExact } from "../util/exact-json.ts";
import type { Schema } from "../util/json-schema.ts";
import { listFields } from "./list-fields.ts";
import type { Field } from "./list-fields.ts";
import { sortErrors, toPointer } from "./sort-errors.ts";
import { dedent } from "../util/show-json.ts";

interface SchemaFieldsProps {
  readonly schema: Schema;
  /** JSON text, in which the fields read and write. */
  readonly text: string;
  readonly change: (text: string) => void;
  /** What is wrong with parts of it. */
  readonly errors: readonly FieldError[];
  /** What is typed into fields of JSON and is none yet, by their JSON Pointers: the text has what stood there before. */
  readonly unfinished: Unfinished;
  readonly keepUnfinished: (unfinished: Unfinished) => void;
}

/** Texts by JSON Pointers. */
export type Unfinished = ReadonlyMap<string, string>;

/** A JSON text as fields, made of its schema: what they change is changed in the text alone, so that numbers keep their digits. */
export function SchemaFields(props: SchemaFieldsProps) {
  const { schema, text, change, errors, unfinished, keepUnfinished } = props;
  const { fields, isWhole } = listFields(schema, parseExact(text));
  const byField = sortErrors(errors, new Set(fields.map(({ path }) => toPointer(path))));
  const set = (path: JsonPath, part: string | null) => {
    const pointer = toPointer(path);
    // An item that is taken out moves others, and anything takes its parts along.
    const isMoving = part === null && typeof path.at(-1) === "number";
    const whole = isMoving ? toPointer(path.slice(0, -1)) : pointer;
    keepUnfinished(new Map([...unfinished].filter(([at]) => at !== pointer && !at.startsWith(`${whole}/`))));
    change(editJson(text, path, part));
  };
  const rest = byField.get("") ?? null;
  return (
    <Stack gap="sm">
      {rest !== null && <Input.Error role="alert">{rest}</Input.Error>}
      {fields.map((field) => {
        const pointer = toPointer(field.path);
        return (
          <div key={pointer} style={{ marginInlineStart: field.depth * 16 }}>
            <FieldRow
              field={field}
              set={set}
              error={byField.get(pointer) ?? null}
              draft={unfinished.get(pointer) ?? null}
              keep={(draft) => keepUnfinished(new Map([...unfinished, [pointer, draft]]))}
            />
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

interface FieldRowProps {
  readonly field: Field;
  readonly set: (path: JsonPath, part: string | null) => void;
  readonly error: string | null;
}

interface AnyFieldProps extends FieldRowProps, Pick<JsonProps, "draft" | "keep"> {}

function FieldRow({ field, set, error, draft, keep }: AnyFieldProps) {
  const { path, control } = field;
  const change = (part: string | null) => set(path, part);
  const { kind } = control;
  if (kind === "group" || kind === "list") return <Heading field={field} set={set} error={error} />;
  if (kind === "choice")
    return <Choice field={field} options={control.options} change={change} error={error} />;
  if (kind === "json") return <Json field={field} change={change} error={error} draft={draft} keep={keep} />;
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

interface JsonProps extends EditorProps {
  /** What was typed and is no JSON yet; null: nothing. */
  readonly draft: string | null;
  readonly keep: (draft: string) => void;
}

/** Any JSON. What is typed is kept beside the text until it is JSON, and written when it is. */
function Json({ field, change, error, draft, keep }: JsonProps) {
  const { text, fallback } = field;
  const write = (given: string) => {
    const isEmpty = given.trim() === "";
    if (isEmpty || isJson(given)) change(isEmpty ? null : given);
    else keep(given);
  };
  return (
    <Textarea
      {...toWords(field)}
      value={draft ?? (text === null ? "" : dedent(text))}
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
