import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { createFormContext } from "@mantine/form";
import { useBlocker } from "@tanstack/react-router";
import { useEffect, useImperativeHandle, useRef, useState } from "react";
import type { FormEvent, ReactNode, Ref, RefObject } from "react";
import { flushSync } from "react-dom";
import type { TSchema } from "typebox";
import { explainError } from "../api/explain-error.ts";
import type { ExplainedError } from "../api/explain-error.ts";
import type { FormHandle } from "../ui/changed-meanwhile.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { noteUnsaved } from "../ui/unsaved.ts";
import { createKey } from "../util/keys.ts";
import { areSame, findErrors, listFieldNames, listSaved, sortByField, toBody } from "./form-values.ts";
import type { FormValues } from "./form-values.ts";

const [FormProvider, useContext, useForm] = createFormContext<FormValues>();

/** The form around a field. */
export const useFormContext = useContext;

interface SchemaBackedFormProps<Body, Answer = unknown> {
  /** Schema of the operation's body: what the server checks is checked before it is sent. */
  readonly schema: TSchema;
  readonly initial: FormValues;
  /** Makes the body of what the fields hold, e.g. numbers of choices; default: as they are, without the empty ones. */
  readonly prepare?: (values: FormValues) => FormValues;
  /** What the schema cannot know, such as a name that is taken, or says less well: what is wrong, by the name of the field. */
  readonly check?: (body: Body) => Readonly<Record<string, string>>;
  /** On the button. */
  readonly submitLabel: string;
  /** Sends it. The key is that of this form: where the operation takes one, sending twice does it once. */
  readonly submit: (body: Body, idempotencyKey: string) => Promise<Answer>;
  /** Of a form that stays: what the fields hold of what was saved, but those whose values were entered since it was sent. Default: what was sent. */
  readonly toSaved?: (answer: Answer) => FormValues;
  /** Called when it was accepted, with what the fields held when it was sent. */
  readonly onDone?: (sent: FormValues, answer: Answer) => void;
  readonly onCancel?: () => void;
  /** Gets what the fields hold whenever it changes, and keeps it: then nothing is asked before the page is left. */
  readonly keep?: (values: FormValues) => void;
  /** What was kept; default: `initial`. */
  readonly kept?: FormValues | null;
  /** Gets what the form says of itself. */
  readonly handle?: Ref<FormHandle>;
  /** Fields of fields.tsx. */
  readonly children: ReactNode;
}

/**
 * The one form: checks by the operation's schema, sends once, shows refusals at their fields and anything else above the buttons, and asks
 * before unsaved input is left.
 */
export function SchemaBackedForm<Body, Answer = unknown>(props: SchemaBackedFormProps<Body, Answer>) {
  const { schema, initial, prepare = toBody, check, submitLabel, submit, keep, children } = props;
  const element = useRef<HTMLFormElement>(null);
  const { form, showSaved } = useKeptForm(props, element);
  const [key] = useState(createKey);
  const [failure, setFailure] = useState<ExplainedError | null>(null);
  const [isSending, setIsSending] = useState(false);
  // What was sent is not lost: who is told that it was accepted may leave at once.
  const onItsWay = useRef<FormValues | null>(null);
  const isUnsaved = () => !areSame(form.getValues(), form.getInitialValues());
  const isEntered = () => !areSame(form.getValues(), onItsWay.current ?? form.getInitialValues());
  useImperativeHandle(props.handle, () => ({ isEntered }));
  const show = (errors: Readonly<Record<string, string>>, explained: ExplainedError | null) => {
    const { "": rest, ...fields } = errors;
    form.setErrors(fields);
    setFailure(toShown(rest, explained));
    const [name] = Object.keys(fields);
    focusField(element.current, name);
  };
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (isSending) return;
    const names = new Set(listFieldNames(initial));
    const sent = form.getValues();
    const body = prepare(sent);
    const errors = { ...sortByField(findErrors(schema, body), names), ...check?.(body as Body) };
    if (Object.keys(errors).length > 0) return show(errors, null);
    show({}, null);
    setIsSending(true);
    onItsWay.current = sent;
    try {
      const answer = await submit(body as Body, key);
      const saved = props.toSaved?.(answer) ?? sent;
      showSaved(sent, saved);
      onItsWay.current = saved;
      props.onDone?.(sent, answer);
    } catch (error) {
      const explained = explainError(error);
      show(sortByField(explained.fields, names), explained);
    } finally {
      onItsWay.current = null;
      setIsSending(false);
    }
  };
  return (
    <FormProvider form={form}>
      <form ref={element} noValidate onSubmit={(event) => void send(event)}>
        <Stack>
          {children}
          {failure !== null && <FormFailure failure={failure} />}
          <Buttons submitLabel={submitLabel} isSending={isSending} onCancel={props.onCancel} />
        </Stack>
      </form>
      {keep === undefined && <UnsavedInput isDirty={isEntered} isUnsaved={isUnsaved} />}
    </FormProvider>
  );
}

/** To the field of that name; undefined: nowhere. */
function focusField(element: HTMLFormElement | null, name: string | undefined): void {
  if (name !== undefined) element?.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]`)?.focus();
}

type Kept = Pick<SchemaBackedFormProps<never>, "initial" | "keep" | "kept">;

function useKeptForm({ initial, keep, kept }: Kept, element: RefObject<HTMLFormElement | null>) {
  const isShowing = useRef(false);
  const form = useForm({
    mode: "uncontrolled",
    initialValues: kept ?? initial,
    onValuesChange: (values) => {
      if (!isShowing.current) keep?.(values);
    },
  });
  /** What was entered since it was sent stays, and is not saved yet. */
  const showSaved = (sent: FormValues, saved: FormValues) => {
    const focused = document.activeElement?.getAttribute("name") ?? undefined;
    const changes = listSaved(form.getValues(), sent, saved);
    isShowing.current = true;
    // A field that is given a value is another one from then on.
    flushSync(() => {
      for (const [name, value] of changes) form.setFieldValue(name, value);
    });
    isShowing.current = false;
    form.resetDirty(saved);
    if (changes.some(([name]) => name === focused)) focusField(element.current, focused);
  };
  return { form, showSaved };
}

interface ButtonsProps {
  readonly submitLabel: string;
  readonly isSending: boolean;
  readonly onCancel: (() => void) | undefined;
}

function Buttons({ submitLabel, isSending, onCancel }: ButtonsProps) {
  return (
    <Group justify="flex-end">
      {onCancel !== undefined && (
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      )}
      <Button type="submit" loading={isSending}>
        {submitLabel}
      </Button>
    </Group>
  );
}

/** Where all of it is shown at fields, nothing is left to be said above them. */
function toShown(rest: string | undefined, explained: ExplainedError | null): ExplainedError | null {
  if (explained === null)
    return rest === undefined
      ? null
      : { title: "This cannot be sent", detail: rest, fields: [], isRetryable: false };
  if (rest !== undefined) return { ...explained, detail: `${explained.detail} ${rest}` };
  return explained.fields.length > 0 ? null : explained;
}

function FormFailure({ failure }: { readonly failure: ExplainedError }) {
  const { title, detail, code, requestId } = failure;
  return (
    <Alert color="red" variant="light" title={title} role="alert">
      <Text fz="sm" c="var(--mantine-color-text)">
        {detail}
        {code === "UNAUTHENTICATED" && <SignInElsewhere />}
      </Text>
      <Text fz="sm" className="mono" c="dimmed">
        {[code, requestId].filter((id) => id !== undefined).join(" · ")}
      </Text>
    </Alert>
  );
}

/** In another tab: what is entered here stays. */
function SignInElsewhere() {
  return (
    <>
      {" "}
      <Anchor href="/sign-in" target="_blank" rel="noreferrer" inherit underline="always">
        Sign in in another tab
      </Anchor>{" "}
      and send this once more.
    </>
  );
}

interface UnsavedInputProps {
  /** Whether something is entered that was not sent either. */
  readonly isDirty: () => boolean;
  /** What is on its way is unsaved: it may be refused. */
  readonly isUnsaved: () => boolean;
}

/** Asks before the page is left; the browser asks before the tab is closed. */
function UnsavedInput({ isDirty, isUnsaved }: UnsavedInputProps) {
  useEffect(() => noteUnsaved(isUnsaved));
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => isDirty(),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <Dialog title="Leave without saving?" isOpen={status === "blocked"} onClose={() => reset?.()}>
      <Stack>
        <Text>What you have entered would be lost.</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => reset?.()}>
            Stay
          </Button>
          <Button color="red" onClick={() => proceed?.()}>
            Leave
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
