import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { MAX_INPUT_BYTES } from "@platform/contract/limits";
import { toLocalCurl, toLocalPython } from "@platform/contract/snippets/local";
import type { LocalTry } from "@platform/contract/local-try";
import { explainError } from "../api/explain-error.ts";
import type { LocalApi } from "../api/local.ts";
import { findBodyFault } from "../schema-form/find-body-fault.ts";
import { InputEditor } from "../schema-form/input-editor.tsx";
import type { Unfinished } from "../schema-form/schema-fields.tsx";
import { explainHeld, explainUnchanged } from "../try-it/explain-held.ts";
import { SameElsewhere } from "../try-it/same-elsewhere.tsx";
import { Failure } from "../ui/failure.tsx";
import { Unless } from "../ui/unless.tsx";
import { composeExample } from "./compose-example.ts";
import { RunPanel } from "./run-panel.tsx";
import { TypeHints } from "./type-hints.tsx";
import { useRun } from "./use-run.ts";

const STILL_RUNS = "The last one still runs: wait for its end, or cancel it.";

interface WorkbenchProps {
  readonly api: LocalApi;
  readonly project: LocalTry;
}

/** The input on one side, what became of it on the other. */
export function Workbench({ api, project }: WorkbenchProps) {
  const { text, setText, example } = useInput(project);
  const schema = useLastSchema(project);
  const [unfinished, keepUnfinished] = useState<Unfinished>(new Map());
  const { run, isStarting, isRunning, refusal, start, cancel, forgetRefusal } = useRun(api, project.version);
  const fault = findBodyFault(text, MAX_INPUT_BYTES);
  const errors = refusal === null ? [] : explainError(refusal).fields;
  const held = explainHeld(fault, unfinished) ?? (isRunning ? STILL_RUNS : null);
  const change = (next: string) => {
    setText(next);
    forgetRefusal();
  };
  const reset = () => {
    change(example);
    keepUnfinished(new Map());
  };
  return (
    <div className="local-columns">
      <section className="local-part" aria-labelledby="input-title">
        <div className="local-actions">
          <h2 id="input-title">Input</h2>
          <Group gap="xs">
            <Unless reason={explainUnchanged(text, example, unfinished)}>
              <Button variant="default" onClick={reset}>
                Example again
              </Button>
            </Unless>
            <Unless reason={held}>
              <Button onClick={() => start(text)} loading={isStarting}>
                Run
              </Button>
            </Unless>
          </Group>
          {project.failure !== null && (
            <a className="local-fault" href="#notes">
              The code cannot be loaded: see above
            </a>
          )}
        </div>
        <InputEditor
          schema={schema}
          text={text}
          change={change}
          fault={fault}
          errors={errors}
          unfinished={unfinished}
          keepUnfinished={keepUnfinished}
        />
        {refusal !== null && errors.length === 0 && <Failure error={refusal} />}
        {project.failure === null && <TypeHints schema={schema} text={text} />}
      </section>
      <RunPanel key={run?.record.id ?? "none"} run={run} cancel={cancel} />
      <Elsewhere text={fault === null ? text : "{}"} schema={schema} />
    </div>
  );
}

/** Of code that cannot be loaded nothing is known: the form stays as it was until it is fixed. */
function useLastSchema({ inputSchema, failure }: LocalTry) {
  const [schema, setSchema] = useState(inputSchema);
  if (failure === null && schema !== inputSchema) setSchema(inputSchema);
  return schema;
}

/** What is being entered. It begins as the example, and is the new one after an edit of that, unless it was changed. */
function useInput({ example: { data, params } }: LocalTry) {
  const example = composeExample({ data, params });
  const [input, setInput] = useState({ text: example, example });
  if (input.example !== example)
    setInput({ text: input.text === input.example ? example : input.text, example });
  return { text: input.text, example, setText: (text: string) => setInput({ text, example }) };
}

const LANGUAGES = [
  { label: "curl", language: "bash", what: "curl commands", write: toLocalCurl },
  { label: "Python", language: "python", what: "Python program", write: toLocalPython },
] as const;

/** The same start as programs, and what the input may be. */
function Elsewhere({ text, schema }: { readonly text: string; readonly schema: LocalTry["inputSchema"] }) {
  const call = { url: `${globalThis.location.origin}/`, body: text };
  const programs = LANGUAGES.map(({ write, ...program }) => ({ ...program, write: () => write(call) }));
  return (
    <section className="local-part local-elsewhere" aria-labelledby="elsewhere-title">
      <h2 id="elsewhere-title">The same elsewhere</h2>
      <SameElsewhere programs={programs} text={text} inputSchema={schema} />
    </section>
  );
}
