import { Button, Group, SimpleGrid, Stack } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { PLATFORM_ROUTES } from "@platform/contract/platform-api/routes.gen";
import { toCurl, toPython } from "@platform/contract/snippets";
import { API_PATH } from "../../api/client.ts";
import { explainError } from "../../api/explain-error.ts";
import { q, useChange, useFetched } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { Can } from "../../ui/can.tsx";
import { ChoiceTabs } from "../../ui/choice-tabs.tsx";
import { Code } from "../../ui/code.tsx";
import { Failure } from "../../ui/failure.tsx";
import type { Unfinished } from "../../schema-form/schema-fields.tsx";
import { findBodyFault } from "./find-body-fault.ts";
import { TryInput } from "./try-input.tsx";

interface TryFormProps {
  readonly serviceKey: string;
  readonly version: string;
  /** JSON text of a start's body. */
  readonly example: string;
  readonly inputSchema: Readonly<Record<string, unknown>> | null;
}

/** The body of a start, sent digit by digit as it was typed, and the same start for elsewhere. */
export function TryForm({ serviceKey, version, example, inputSchema }: TryFormProps) {
  const { id: organizationId, slug: org } = useOrganisation();
  const navigate = useNavigate();
  const [text, setText] = useState(example);
  const [unfinished, keepUnfinished] = useState<Unfinished>(new Map());
  const [error, setError] = useState<unknown>(null);
  const start = useChange("startJob", { refresh: ["listExecutions", "countExecutions"] });
  const { data: configuration } = useFetched(q("getConfiguration", {}));
  const fault = findBodyFault(text, configuration?.limits.inputBytes ?? null);
  const fields = error === null ? [] : explainError(error).fields;
  const query = { serviceKey, version };
  const run = () => {
    setError(null);
    start
      .run({ query, body: { json: text } })
      .then(({ id }) => navigate({ to: "/o/$org/executions/$id", params: { org, id } }))
      .catch(setError);
  };
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Stack>
        <TryInput
          schema={inputSchema}
          text={text}
          change={(next) => {
            setText(next);
            setError(null);
          }}
          fault={fault}
          errors={fields}
          unfinished={unfinished}
          keepUnfinished={keepUnfinished}
        />
        {error !== null && fields.length === 0 && <Failure error={error} />}
        <Group justify="flex-end">
          <Button
            variant="default"
            onClick={() => {
              setText(example);
              keepUnfinished(new Map());
              setError(null);
            }}
            disabled={text === example && unfinished.size === 0}
          >
            Example again
          </Button>
          <Can op="startJob">
            <Button onClick={run} loading={start.isRunning} disabled={fault !== null || unfinished.size > 0}>
              Run
            </Button>
          </Can>
        </Group>
      </Stack>
      <Elsewhere query={query} text={text} isSound={fault === null} organizationId={organizationId}>
        {inputSchema}
      </Elsewhere>
    </SimpleGrid>
  );
}

interface ElsewhereProps {
  readonly query: { readonly serviceKey: string; readonly version: string };
  readonly text: string;
  readonly isSound: boolean;
  readonly organizationId: string;
  readonly children: TryFormProps["inputSchema"];
}

/** The same start as code, and what the input may be. */
function Elsewhere({ query, text, isSound, organizationId, children: inputSchema }: ElsewhereProps) {
  const asked = {
    route: PLATFORM_ROUTES.startJob,
    baseUrl: `${globalThis.location.origin}${API_PATH}`,
    request: { query, body: { json: isSound ? text : "{}" } },
    headers: { "X-OrganizationId": organizationId },
  };
  return (
    <ChoiceTabs
      label="The same elsewhere"
      choices={[
        {
          label: "Schema",
          content: () => (
            <Code
              text={
                inputSchema === null
                  ? "run has no type hints: any object is taken. With type hints, there would be a schema."
                  : JSON.stringify(inputSchema, null, 2)
              }
              language={inputSchema === null ? "text" : "json"}
              what="Schema of the input"
            />
          ),
        },
        { label: "curl", content: () => <Code text={toCurl(asked)} language="bash" what="curl command" /> },
        {
          label: "Python",
          content: () => <Code text={toPython(asked)} language="python" what="Python program" />,
        },
      ]}
    />
  );
}
