import { Button, Group, SimpleGrid, Stack } from "@mantine/core";
import { useRef, useState } from "react";
import type { ReactNode } from "react";
import type { RawJson } from "@platform/contract/client";
import { explainError } from "../api/explain-error.ts";
import { q, useFetched } from "../api/queries.ts";
import { findBodyFault } from "../schema-form/find-body-fault.ts";
import { InputEditor } from "../schema-form/input-editor.tsx";
import type { Unfinished } from "../schema-form/schema-fields.tsx";
import { Can } from "../ui/can.tsx";
import { Failure } from "../ui/failure.tsx";
import { Unless } from "../ui/unless.tsx";
import type { Schema } from "../util/json-schema.ts";
import { Elsewhere } from "./elsewhere.tsx";
import type { ShownStart } from "./elsewhere.tsx";
import { explainHeld, explainUnchanged } from "./explain-held.ts";
import type { KeptText } from "./kept-input.tsx";
import { PickFile } from "./pick-file.tsx";
import { useStartKey } from "./use-start-key.ts";

/** How a form starts executions: as a job, or as an application. */
interface Start extends ShownStart {
  readonly run: (sent: {
    readonly body: RawJson;
    readonly idempotencyKey: string;
  }) => Promise<{ readonly id: string }>;
  readonly isRunning: boolean;
  /** Why nothing can be started now; null or absent: it can. */
  readonly unless?: string | null;
}

interface TryFormProps {
  readonly start: Start;
  readonly begun: KeptText;
  /** JSON text of a start's body: the example. */
  readonly example: string;
  readonly inputSchema: Schema | null;
  /** Gets the identifier of what was started; nothing else is, until it is done. */
  readonly onStarted: (id: string) => void | Promise<void>;
  /** Says why it was refused, where no field does; default: as any refusal. */
  readonly explain?: (error: unknown) => ReactNode;
  /** What became of the last start, where it is shown beside the form. */
  readonly beside?: ReactNode;
}

const HINT = (
  <>
    <span className="mono">data</span> is the input of <span className="mono">run</span>,{" "}
    <span className="mono">params</span> are its settings. A file of a data pool can hold either: name it as{" "}
    <span className="mono">dataRef</span> or <span className="mono">paramsRef</span>, with its Copy Text.
  </>
);

/** The body of a start, sent digit by digit as it was typed, and the same start for elsewhere. */
export function TryForm({ start, begun, example, inputSchema, onStarted, ...show }: TryFormProps) {
  const [text, setText] = useState(begun.first);
  const [unfinished, keepUnfinished] = useState<Unfinished>(new Map());
  const { error, forget, run } = useStart(start, onStarted);
  const { data: configuration } = useFetched(q("getConfiguration", {}));
  const fault = findBodyFault(text, configuration?.limits.inputBytes ?? null);
  const fields = error === null ? [] : explainError(error).fields;
  const change = (next: string) => {
    setText(next);
    begun.keep(next);
    forget();
  };
  const replace = (next: string) => {
    change(next);
    keepUnfinished(new Map());
  };
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Stack>
        <InputEditor
          schema={inputSchema}
          text={text}
          change={change}
          fault={fault}
          hint={HINT}
          errors={fields}
          unfinished={unfinished}
          keepUnfinished={keepUnfinished}
        />
        <PickFile text={text} change={replace} isReady={fault === null} />
        {error !== null && fields.length === 0 && (show.explain?.(error) ?? <Failure error={error} />)}
        <Group justify="flex-end">
          <Unless reason={explainUnchanged(text, example, unfinished)}>
            <Button variant="default" onClick={() => replace(example)}>
              Example again
            </Button>
          </Unless>
          <Can op={start.op} unless={start.unless ?? explainHeld(fault, unfinished)}>
            <Button onClick={() => run(text)} loading={start.isRunning}>
              Run
            </Button>
          </Can>
        </Group>
      </Stack>
      <Stack gap="xl">
        {show.beside}
        <Elsewhere start={start} text={fault === null ? text : "{}"} inputSchema={inputSchema} />
      </Stack>
    </SimpleGrid>
  );
}

/** Starts one where Run is pressed twice. */
function useStart({ run }: Start, onStarted: TryFormProps["onStarted"]) {
  const [error, setError] = useState<unknown>(null);
  const sendOnce = useStartKey();
  const isBusy = useRef(false);
  const send = async (text: string) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setError(null);
    try {
      const { id } = await sendOnce(text, (idempotencyKey) => run({ body: { json: text }, idempotencyKey }));
      await onStarted(id);
    } catch (refused) {
      setError(refused);
    }
    isBusy.current = false;
  };
  return { error, forget: () => setError(null), run: (text: string) => void send(text) };
}
