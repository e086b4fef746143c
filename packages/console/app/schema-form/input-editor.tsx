import { Group, SegmentedControl, Stack, Text, Textarea } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import type { FieldError } from "@platform/contract/problems";
import { explainNoFields } from "./explain-no-fields.ts";
import { SchemaFields } from "./schema-fields.tsx";
import type { Unfinished } from "./schema-fields.tsx";
import type { Schema } from "../util/json-schema.ts";

interface InputEditorProps {
  /** null: `run` has no type hints. */
  readonly schema: Schema | null;
  /** JSON text of the input. */
  readonly text: string;
  readonly change: (text: string) => void;
  /** Why it cannot be sent; null: it can. */
  readonly fault: string | null;
  /** What may stand in the text, where it can be more than `data` and `params`. */
  readonly hint?: ReactNode;
  /** What the platform has refused of it. */
  readonly errors: readonly FieldError[];
  /** What is typed into its fields and is not in the text yet. */
  readonly unfinished: Unfinished;
  readonly keepUnfinished: (unfinished: Unfinished) => void;
}

const HINT = (
  <>
    <span className="mono">data</span> is the input of <span className="mono">run</span>,{" "}
    <span className="mono">params</span> are its settings.
  </>
);

/** The input as fields or as JSON: two views of one text. */
export function InputEditor(props: InputEditorProps) {
  const { schema, text, change, fault, hint = HINT, errors, unfinished, keepUnfinished } = props;
  const [view, setView] = useState<"form" | "json">("form");
  const part = useFirstRefused(errors);
  const noFields = schema === null ? null : explainNoFields(schema, text);
  const isForm = view === "form" && schema !== null && fault === null && noFields === null;
  return (
    <Stack gap="sm" ref={part}>
      {schema !== null && (
        <ViewSwitch
          isForm={isForm}
          show={(next) => {
            setView(next);
            keepUnfinished(new Map());
          }}
          isInput={fault === null}
          noFields={noFields}
        />
      )}
      {isForm ? (
        <SchemaFields
          schema={schema}
          text={text}
          change={change}
          errors={errors}
          unfinished={unfinished}
          keepUnfinished={keepUnfinished}
        />
      ) : (
        <Textarea
          label="Input"
          description={hint}
          value={text}
          onChange={(event) => {
            // Else the fields would take the place of what is being typed, as soon as it is JSON.
            setView("json");
            change(event.currentTarget.value);
          }}
          error={fault ?? errors.map(({ path, message }) => `${path} ${message}`.trim()).join("\n")}
          autosize
          minRows={8}
          maxRows={30}
          spellCheck={false}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } }}
        />
      )}
    </Stack>
  );
}

interface ViewSwitchProps {
  readonly isForm: boolean;
  readonly show: (view: "form" | "json") => void;
  /** Whether the text is one that could be in fields; its field says else what is wrong with it. */
  readonly isInput: boolean;
  /** Why it is in none; null: it can be. */
  readonly noFields: string | null;
}

function ViewSwitch({ isForm, show, isInput, noFields }: ViewSwitchProps) {
  return (
    <Group>
      <SegmentedControl
        aria-label="Show the input as"
        value={isForm ? "form" : "json"}
        onChange={(next) => show(next === "form" ? "form" : "json")}
        data={[
          { value: "form", label: "Form", disabled: !isInput || noFields !== null },
          { value: "json", label: "JSON" },
        ]}
      />
      {isInput && noFields !== null && (
        <Text fz="sm" c="dimmed">
          {noFields}
        </Text>
      )}
    </Group>
  );
}

/** The first field that was refused gets the focus: it may be far from the button that was pressed. Belongs to the element with the fields. */
function useFirstRefused(errors: readonly FieldError[]) {
  const part = useRef<HTMLDivElement>(null);
  const refused = errors.map(({ path }) => path).join(" ");
  useEffect(() => {
    if (refused !== "") part.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [refused]);
  return part;
}
