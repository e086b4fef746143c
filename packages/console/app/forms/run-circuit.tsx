import { Group, Text } from "@mantine/core";
import { Type } from "typebox";
import type { TSchema } from "typebox";
import { RequestRefused } from "@platform/contract/client";
import type { Backend } from "@platform/contract/quantum-api/backends";
import { QUANTUM_JOBS_API } from "@platform/contract/quantum-api/jobs";
import type { JobRequest } from "@platform/contract/quantum-api/jobs";
import type { AnswerOf, BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { findExample, findFormat, FORMAT_WORDS, listTextFormats, toInput } from "../quantum/circuits.ts";
import type { TextFormat } from "../quantum/circuits.ts";
import { chooseShots } from "../quantum/programs.ts";
import { NumberField, TagsField, TextAreaField, TextField } from "./fields.tsx";
import { withoutEmpty } from "./form-values.ts";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

const LARGEST_SEED = 2 ** 32 - 1;

type Body = BodyOf<"createQuantumJob">;
/** What the fields hold. */
type Entered = Pick<JobRequest, "shots" | "input_params" | "name" | "tags"> & { readonly input: string };

interface RunCircuitProps {
  readonly backend: Backend;
  readonly onStarted: (job: AnswerOf<"createQuantumJob">) => void;
  readonly onCancel: () => void;
}

/** A circuit, or a problem of an annealer, as text becomes a job. It is sent as it stands: the backend reads it. */
export function RunCircuit({ backend, onStarted, onCancel }: RunCircuitProps) {
  const start = useChange("createQuantumJob", {
    done: "Job started.",
    refresh: ["listQuantumJobs", "listBackends", "getBackendStatus", "listExecutions", "countExecutions"],
  });
  const formats = listTextFormats(backend);
  const isProblem = backend.type === "ANNEALER";
  const { min = 1, max = 1 } = backend.configuration?.shots_range ?? {};
  return (
    <SchemaBackedForm<Entered>
      schema={toSchema(backend)}
      initial={{
        input: findExample(backend),
        shots: chooseShots(backend),
        input_params: { seed: "" },
        name: "",
        tags: [],
      }}
      prepare={withoutEmpty}
      submitLabel="Start the job"
      submit={async (entered, idempotencyKey) =>
        onStarted(await start.run({ body: toBody(entered, backend), idempotencyKey }))
      }
      onCancel={onCancel}
    >
      <TextAreaField
        name="input"
        label={isProblem ? "Problem" : "Circuit"}
        description={`${formats.map((format) => FORMAT_WORDS[format]).join(" or ")}; an example is filled in`}
        rows={8}
        isVerbatim
        hasFocus
      />
      <Group grow align="flex-start" preventGrowOverflow={false}>
        <NumberField name="shots" label={isProblem ? "Reads" : "Shots"} min={min} max={max} />
        <NumberField
          name="input_params.seed"
          label="Seed"
          description="May be left empty"
          min={0}
          max={LARGEST_SEED}
        />
      </Group>
      <TextField name="name" label="Name" description="May be left empty; the list is searched by it" />
      <TagsField name="tags" label="Tags" description="Each ended by Enter" />
      {backend.status !== "ONLINE" && (
        <Text fz="sm">The backend is not online at present: the job waits until it is.</Text>
      )}
    </SchemaBackedForm>
  );
}

const { properties } = QUANTUM_JOBS_API.createQuantumJob.body;

/** What the form asks for, with the bounds of this backend, so that they are told before anything is sent. */
function toSchema({ configuration }: Backend): TSchema {
  const { min = 1, max = 1 } = configuration?.shots_range ?? {};
  return Type.Object({
    input: Type.String({ minLength: 1 }),
    shots: Type.Optional(Type.Integer({ minimum: min, maximum: max })),
    input_params: Type.Optional(
      Type.Object({ seed: Type.Optional(Type.Integer({ minimum: 0, maximum: LARGEST_SEED })) }),
    ),
    name: properties.name,
    tags: properties.tags,
  });
}

/** @throws RequestRefused as the platform would, where the text is nothing that the backend reads */
function toBody({ input: text, ...values }: Entered, backend: Backend): Body {
  const format = findFormat(text);
  const formats = listTextFormats(backend);
  if (format === null || !formats.includes(format)) throw refuse(`must begin ${describeBeginnings(formats)}`);
  return {
    ...values,
    backend_id: backend.id,
    input_format: format,
    input: readInput(format, text),
    sdk_provider: "CONSOLE",
  };
}

const BEGINNINGS: Readonly<Record<TextFormat, string>> = {
  OPEN_QASM_V3: "with OPENQASM 3.0;",
  OPEN_QASM_V2: "with OPENQASM 2.0;",
  DIMOD_BQM: "with { as the JSON of dimod does",
};

function describeBeginnings(formats: readonly TextFormat[]): string {
  return formats.map((format) => BEGINNINGS[format]).join(" or ");
}

function readInput(format: TextFormat, text: string): unknown {
  try {
    return toInput(format, text);
  } catch (error) {
    throw refuse(`must be JSON: ${error instanceof Error ? error.message : "it cannot be read"}`);
  }
}

function refuse(message: string): RequestRefused {
  const errors = [{ path: "/input", message }];
  return new RequestRefused(400, { code: "INVALID_INPUT", detail: `The input ${message}.`, errors });
}
