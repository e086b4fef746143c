import { Button, Group, SimpleGrid, Stack } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { explainError } from "../../api/explain-error.ts";
import { q, useChange, useFetched } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { Can } from "../../ui/can.tsx";
import { Failure } from "../../ui/failure.tsx";
import { findBodyFault } from "../../schema-form/find-body-fault.ts";
import { InputEditor } from "../../schema-form/input-editor.tsx";
import type { Unfinished } from "../../schema-form/schema-fields.tsx";
import { Elsewhere } from "./elsewhere.tsx";

interface TryFormProps {
  readonly serviceKey: string;
  readonly version: string;
  /** JSON text of a start's body. */
  readonly example: string;
  readonly inputSchema: Readonly<Record<string, unknown>> | null;
}

/** The body of a start, sent digit by digit as it was typed, and the same start for elsewhere. */
export function TryForm({ serviceKey, version, example, inputSchema }: TryFormProps) {
  const { slug: org } = useOrganisation();
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
        <InputEditor
          schema={inputSchema}
          text={text}
          change={(next) => {
            setText(next);
            setError(null);
          }}
          fault={fault}
          hint="data is what run works on, params how; dataRef or paramsRef in its place, with the Copy Text of a file of a data pool"
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
      <Elsewhere query={query} text={fault === null ? text : "{}"} inputSchema={inputSchema} />
    </SimpleGrid>
  );
}
