import { Stack } from "@mantine/core";
import { ChoiceTabs } from "../ui/choice-tabs.tsx";
import { Code } from "../ui/code.tsx";
import { SaveBody } from "../ui/save-body.tsx";
import type { Schema } from "../util/json-schema.ts";
import { showJson } from "../util/show-json.ts";

interface Program {
  readonly label: string;
  readonly language: "bash" | "python" | "javascript" | "java";
  /** What is copied, e.g. "curl command". */
  readonly what: string;
  readonly write: () => string;
}

interface SameElsewhereProps {
  readonly programs: readonly Program[];
  /** JSON text of a start's body. */
  readonly text: string;
  readonly inputSchema: Schema | null;
}

/** What the input may be, and the same start as programs. */
export function SameElsewhere({ programs, text, inputSchema }: SameElsewhereProps) {
  return (
    <ChoiceTabs
      label="The same elsewhere"
      choices={[
        { label: "Schema", content: () => <InputSchema of={inputSchema} /> },
        ...programs.map(({ label, language, what, write }) => ({
          label,
          content: () => (
            <Stack gap="xs" align="stretch">
              <Code text={write()} language={language} what={what} />
              <SaveBody text={text} />
            </Stack>
          ),
        })),
      ]}
    />
  );
}

function InputSchema({ of: schema }: { readonly of: Schema | null }) {
  return (
    <Code
      text={
        schema === null
          ? "run has no type hints: any object is taken. With type hints, there would be a schema."
          : showJson(schema)
      }
      language={schema === null ? "text" : "json"}
      what="Schema of the input"
    />
  );
}
