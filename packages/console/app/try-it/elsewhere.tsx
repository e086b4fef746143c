import { Stack } from "@mantine/core";
import { PLATFORM_ROUTES } from "@platform/contract/platform-api/routes.gen";
import { toCurl, toJava, toJavaScript, toPython } from "@platform/contract/snippets/requests";
import type { ShownRequest } from "@platform/contract/snippets/requests";
import { API_PATH } from "../api/client.ts";
import { useOrganisation } from "../api/scope.tsx";
import { ChoiceTabs } from "../ui/choice-tabs.tsx";
import { Code } from "../ui/code.tsx";
import { SaveBody } from "../ui/save-body.tsx";
import type { Schema } from "../util/json-schema.ts";
import { showJson } from "../util/show-json.ts";

const LANGUAGES = [
  { label: "curl", language: "bash", what: "curl command", write: toCurl },
  { label: "Python", language: "python", what: "Python program", write: toPython },
  { label: "JavaScript", language: "javascript", what: "JavaScript program", write: toJavaScript },
  { label: "Java", language: "java", what: "Java program", write: toJava },
] as const;

/** A start without its body. */
export interface ShownStart {
  readonly op: "startJob" | "startSubscriptionExecution";
  readonly request: Omit<ShownRequest["request"], "body">;
}

interface ElsewhereProps {
  readonly start: ShownStart;
  /** JSON text of a start's body. */
  readonly text: string;
  readonly inputSchema: Schema | null;
}

/** The same start as code, and what the input may be. */
export function Elsewhere({ start: { op, request }, text, inputSchema }: ElsewhereProps) {
  const { id } = useOrganisation();
  const asked = {
    route: PLATFORM_ROUTES[op],
    baseUrl: `${globalThis.location.origin}${API_PATH}`,
    request: { ...request, body: { json: text } },
    headers: { "X-OrganizationId": id },
  };
  return (
    <ChoiceTabs
      label="The same elsewhere"
      choices={[
        { label: "Schema", content: () => <InputSchema of={inputSchema} /> },
        ...LANGUAGES.map(({ label, language, what, write }) => ({
          label,
          content: () => (
            <Stack gap="xs" align="stretch">
              <Code text={write(asked)} language={language} what={what} />
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
