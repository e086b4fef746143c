import {
  Checkbox,
  MultiSelect,
  NumberInput,
  PasswordInput,
  Select,
  Switch,
  TagsInput,
  TextInput,
  Textarea,
} from "@mantine/core";
import type { ReactNode } from "react";
import { toNumber } from "./form-values.ts";
import { useFormContext } from "./schema-backed-form.tsx";

/** What every field takes. */
export interface FieldProps {
  /** Name of the property in the body. */
  readonly name: string;
  readonly label: string;
  /** A sentence below the label. */
  readonly description?: ReactNode;
  readonly isRequired?: boolean;
  readonly hasFocus?: boolean;
}

/** What an input gets to be a field of the form around it. */
export function useField(
  { name, label, description, isRequired, hasFocus }: FieldProps,
  type: "input" | "checkbox" = "input",
) {
  const form = useFormContext();
  const { key, ...input } = { key: form.key(name), ...form.getInputProps(name, { type }) };
  return {
    key,
    props: {
      ...input,
      name,
      label,
      ...(description === undefined ? {} : { description }),
      // The star says it; `required` would show the browser's own message, without the schema's words.
      ...(isRequired === undefined || type === "checkbox" ? {} : { withAsterisk: isRequired }),
      ...(hasFocus === true ? { "data-autofocus": true } : {}),
    },
  };
}

/** The text in the field, not its label. */
const MONOSPACED = { styles: { input: { fontFamily: "var(--mantine-font-family-monospace)" } } };

interface TextFieldProps extends FieldProps {
  readonly placeholder?: string;
  /** For the browser's own store of values, e.g. `email`. */
  readonly autoComplete?: string;
  readonly isMonospaced?: boolean;
}

/** One line of text. Spaces around it are none of it: nobody sees them. */
export function TextField({ placeholder, autoComplete = "off", isMonospaced, ...field }: TextFieldProps) {
  const { key, props } = useField(field);
  return (
    <TextInput
      key={key}
      {...props}
      onChange={(event) => props.onChange(event.currentTarget.value.trim())}
      autoComplete={autoComplete}
      {...(placeholder === undefined ? {} : { placeholder })}
      {...(isMonospaced === true ? MONOSPACED : {})}
    />
  );
}

interface TextAreaFieldProps extends FieldProps {
  readonly rows?: number;
  /** Kept as it is typed, for values that are no prose: browsers neither remember it nor send it to a checker of spelling. */
  readonly isVerbatim?: boolean;
}

/** Several lines of text. */
export function TextAreaField({ rows = 4, isVerbatim = false, ...field }: TextAreaFieldProps) {
  const { key, props } = useField(field);
  const verbatim = { autoComplete: "off", spellCheck: false, autoCapitalize: "none", ...MONOSPACED };
  return (
    <Textarea key={key} {...props} minRows={rows} autosize maxRows={30} {...(isVerbatim ? verbatim : {})} />
  );
}

/** A password, which can be shown. `autoComplete`: `current-password` or `new-password`. */
export function PasswordField({ autoComplete, ...field }: FieldProps & { readonly autoComplete: string }) {
  const { key, props } = useField(field);
  return (
    <PasswordInput
      key={key}
      {...props}
      autoComplete={autoComplete}
      // The kit says it of other inputs by itself.
      aria-invalid={Boolean(props.error)}
      visibilityToggleButtonProps={{ "aria-label": "Show password", tabIndex: 0 }}
    />
  );
}

interface NumberFieldProps extends FieldProps {
  readonly min?: number;
  readonly max?: number;
  /** Behind the number: " days". */
  readonly suffix?: string;
}

/** A number. What is no whole one, or out of bounds, is refused by the schema of the form. */
export function NumberField({ min, max, suffix, ...field }: NumberFieldProps) {
  const { key, props } = useField(field);
  return (
    <NumberInput
      key={key}
      {...props}
      onChange={(entered) => props.onChange(toNumber(entered))}
      // The kit would change what is out of bounds when the button is pressed, and another number would be sent.
      clampBehavior="none"
      {...(min === undefined ? {} : { min })}
      {...(max === undefined ? {} : { max })}
      {...(suffix === undefined ? {} : { suffix })}
    />
  );
}

/** Values and their words. */
type Options = readonly { readonly value: string; readonly label: string }[];

/** More than these are found by typing. */
const MANY_OPTIONS = 20;

/** One of some values. */
export function ChoiceField({ options, ...field }: FieldProps & { readonly options: Options }) {
  const { key, props } = useField(field);
  return (
    <Select
      key={key}
      {...props}
      data={[...options]}
      allowDeselect={false}
      comboboxProps={{ withinPortal: true }}
      {...(options.length > MANY_OPTIONS && { searchable: true, limit: 100 })}
    />
  );
}

/** Some of a few values. */
export function ChoicesField({ options, ...field }: FieldProps & { readonly options: Options }) {
  const { key, props } = useField(field);
  return <MultiSelect key={key} {...props} data={[...options]} />;
}

/** Any words, each ended by Enter or a comma. */
export function TagsField(field: FieldProps) {
  const { key, props } = useField(field);
  return <TagsInput key={key} {...props} comboboxProps={{ withinPortal: true }} />;
}

/** Yes or no. */
export function CheckField({ isSwitch, ...field }: FieldProps & { readonly isSwitch?: boolean }) {
  const { key, props } = useField(field, "checkbox");
  return isSwitch === true ? <Switch key={key} {...props} /> : <Checkbox key={key} {...props} />;
}
