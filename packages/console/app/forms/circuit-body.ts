import { Type } from "typebox";
import type { TSchema } from "typebox";
import { RequestRefused } from "@platform/contract/client";
import type { Backend } from "@platform/contract/quantum-api/backends";
import { QUANTUM_JOBS_API } from "@platform/contract/quantum-api/jobs";
import type { JobRequest } from "@platform/contract/quantum-api/jobs";
import { MOST_AMOUNT } from "@platform/contract/quantum-api/price";
import { findFormat, listTextFormats, toInput } from "../quantum/circuits.ts";
import type { TextFormat } from "../quantum/circuits.ts";

/** The largest seed that backends take. */
export const LARGEST_SEED = 2 ** 32 - 1;

/** What the fields hold. */
export type EnteredJob = Pick<JobRequest, "shots" | "input_params" | "name" | "tags" | "max_cost"> & {
  readonly input: string;
};

const { properties } = QUANTUM_JOBS_API.createQuantumJob.body;

/** What the form asks for, with the bounds of this backend, so that they are told before anything is sent. */
export function toSchema({ configuration }: Backend): TSchema {
  const { min = 1, max = 1 } = configuration?.shots_range ?? {};
  return Type.Object({
    input: Type.String({ minLength: 1 }),
    shots: Type.Optional(Type.Integer({ minimum: min, maximum: max })),
    input_params: Type.Optional(
      Type.Object({ seed: Type.Optional(Type.Integer({ minimum: 0, maximum: LARGEST_SEED })) }),
    ),
    name: properties.name,
    tags: properties.tags,
    max_cost: Type.Optional(Type.Number({ minimum: 0, maximum: MOST_AMOUNT })),
  });
}

/** @throws RequestRefused as the platform would, where the text is nothing that the backend reads */
export function toBody({ input: text, ...values }: EnteredJob, backend: Backend): JobRequest {
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
