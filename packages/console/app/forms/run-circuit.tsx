import { Group, Text } from "@mantine/core";
import type { Backend } from "@platform/contract/quantum-api/backends";
import type { AnswerOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { findExample, FORMAT_WORDS, listTextFormats } from "../quantum/circuits.ts";
import { chooseShots } from "../quantum/programs.ts";
import { describeRange } from "../quantum/words.ts";
import { LARGEST_SEED, toBody, toSchema } from "./circuit-body.ts";
import type { EnteredJob } from "./circuit-body.ts";
import { EstimateJob } from "./estimate-job.tsx";
import { NumberField, TagsField, TextAreaField, TextField } from "./fields.tsx";
import { withoutEmpty } from "./form-values.ts";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface RunCircuitProps {
  readonly backend: Backend;
  /** The session that it is to be a job of. */
  readonly sessionId: string | undefined;
  readonly onStarted: (job: AnswerOf<"createQuantumJob">) => void;
  readonly onCancel: () => void;
}

/** A circuit, or a problem of an annealer, as text becomes a job. It is sent as it stands: the backend reads it. */
export function RunCircuit({ backend, sessionId, onStarted, onCancel }: RunCircuitProps) {
  const start = useChange("createQuantumJob", {
    done: "Job started.",
    refresh: ["listQuantumJobs", "listBackends", "getBackendStatus", "listExecutions", "countExecutions"],
  });
  const session = sessionId === undefined ? {} : { session_id: sessionId };
  return (
    <SchemaBackedForm<EnteredJob>
      schema={toSchema(backend)}
      initial={{
        input: findExample(backend),
        shots: chooseShots(backend),
        input_params: { seed: "" },
        max_cost: "",
        name: "",
        tags: [],
      }}
      prepare={withoutEmpty}
      submitLabel="Start the job"
      submit={async (entered, idempotencyKey) =>
        onStarted(await start.run({ body: { ...toBody(entered, backend), ...session }, idempotencyKey }))
      }
      onCancel={onCancel}
    >
      <Fields backend={backend} />
      {backend.dry_run === true && <EstimateJob backend={backend} />}
      {backend.status !== "ONLINE" && (
        <Text fz="sm">The backend is not online at present: the job waits until it is.</Text>
      )}
      {sessionId !== undefined && (
        <Text fz="sm">
          In the session <span className="mono">{sessionId}</span>
        </Text>
      )}
    </SchemaBackedForm>
  );
}

function Fields({ backend }: { readonly backend: Backend }) {
  const isProblem = backend.type === "ANNEALER";
  const { min = 1, max = 1 } = backend.configuration?.shots_range ?? {};
  const formats = listTextFormats(backend).map((format) => FORMAT_WORDS[format]);
  return (
    <>
      <TextAreaField
        name="input"
        label={isProblem ? "Problem" : "Circuit"}
        description={`${formats.join(" or ")}; an example is filled in`}
        rows={8}
        isVerbatim
        hasFocus
      />
      <Group grow align="flex-start" preventGrowOverflow={false}>
        <NumberField
          name="shots"
          label={isProblem ? "Reads" : "Shots"}
          description={describeRange({ min, max })}
          min={min}
          max={max}
        />
        <NumberField
          name="input_params.seed"
          label="Seed"
          description="May be left empty"
          min={0}
          max={LARGEST_SEED}
        />
        {backend.price !== null && (
          <NumberField
            name="max_cost"
            label="Costs at most"
            description="Refused if it may cost more"
            suffix={` ${backend.price.currency}`}
            min={0}
          />
        )}
      </Group>
      <TextField name="name" label="Name" description="May be left empty; the list is searched by it" />
      <TagsField name="tags" label="Tags" description="Each ended by Enter" />
    </>
  );
}
