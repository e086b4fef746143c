import { Type } from "typebox";
import type { Static } from "typebox";
import { JsonObject, StringEnum } from "../schemas.ts";
import { NAME_PATTERN } from "../visible-text.ts";
import { DescribedPriceSchema } from "./price.ts";

/** What a backend is. */
export const BACKEND_TYPES = ["QPU", "SIMULATOR", "ANNEALER"] as const;

/** How a circuit, or what else a backend runs, can be written. */
const INPUT_FORMATS = [
  "QISKIT_QPY",
  "OPEN_QASM_V3",
  "OPEN_QASM_V2",
  "BRAKET_OPEN_QASM_V3",
  "IONQ_CIRCUIT_V1",
  "DIMOD_BQM",
] as const;

/** Others than who has written it may read it, also on a terminal. */
const line = (description: string, maxLength = 200) =>
  Type.String({ minLength: 1, maxLength, pattern: NAME_PATTERN, description });
const count = (description: string, minimum = 0) =>
  Type.Integer({ minimum, maximum: 1_000_000_000, description });
const range = (description: string, minimum = 1) =>
  Type.Object({ min: count("The least", minimum), max: count("The most", minimum) }, { description });

const ConnectivitySchema = Type.Object(
  {
    fully_connected: Type.Boolean({ description: "Whether gates of two qubits act on any pair" }),
    graph: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String(), { maxItems: 1_000 }), {
        description: "The neighbours of each qubit, by its id; of those that are not fully connected",
      }),
    ),
  },
  { additionalProperties: false, title: "Connectivity", description: "Which qubits gates of two act on" },
);

const GateSchema = Type.Object(
  {
    name: line("As OpenQASM calls it"),
    native_gate: Type.Boolean({ description: "Whether the backend runs it as it is" }),
  },
  { additionalProperties: false, title: "Gate", description: "A gate that circuits may have" },
);

const names = (description: string) => Type.Array(line("Name"), { maxItems: 500, description });

const ConfigurationSchema = Type.Object(
  {
    qubit_count: Type.Optional(count("Qubits; absent: of an annealer", 1)),
    qubits: Type.Optional(
      Type.Array(Type.Object({ id: line("Its name") }), {
        maxItems: 10_000,
        description: "The qubits, in their order",
      }),
    ),
    variable_count: Type.Optional(count("Variables of a problem, at most; of an annealer", 1)),
    interaction_count: Type.Optional(count("Interactions of a problem, at most; of an annealer")),
    gates: Type.Optional(Type.Array(GateSchema, { maxItems: 500, description: "What circuits are made of" })),
    instructions: Type.Optional(names("What else circuits may have, such as measure")),
    operations: Type.Optional(names("Options of its own that jobs may set")),
    connectivity: Type.Optional(ConnectivitySchema),
    shots_range: range("Shots of one circuit"),
    total_shots_range: Type.Optional(range("Shots of all circuits of a job")),
    max_pubs_per_job: count("Circuits of one job, at most", 1),
    supported_input_formats: Type.Array(StringEnum(INPUT_FORMATS), {
      minItems: 1,
      uniqueItems: true,
      description: "Formats of the input",
    }),
    memory_result_supported: Type.Boolean({ description: "Whether results have each shot, not only counts" }),
    method_qubits: Type.Optional(
      Type.Record(Type.String(), count("Qubits", 1), {
        description: "Qubits by method, where methods differ",
      }),
    ),
    qpy: Type.Optional(range("Versions of QPY, of QISKIT_QPY")),
  },
  { additionalProperties: false, title: "Configuration", description: "What jobs may ask of the backend" },
);

/** What there is to read of a backend. */
export const DocumentationSchema = Type.Object(
  {
    description: Type.Optional(
      Type.String({ maxLength: 4_000, description: "What it is, in a few sentences" }),
    ),
    url: Type.Optional(
      Type.String({ maxLength: 2_000, pattern: "^https?://", description: "A page about it" }),
    ),
  },
  { additionalProperties: false, title: "Documentation", description: "What there is to read of a backend" },
);

/** What `describe` of a backend returns. */
export const BackendDescriptionSchema = Type.Object(
  {
    type: StringEnum(BACKEND_TYPES, { description: "QPU: a quantum computer; SIMULATOR; ANNEALER" }),
    technology: Type.Optional(line("Such as SUPERCONDUCTING, TRAPPED_ION, PHOTONIC, NEUTRAL_ATOMS")),
    display_name: line("Name for people"),
    provider: Type.Optional(line("Who gives access to it")),
    hardware_provider: Type.Optional(line("Who has made it")),
    documentation: Type.Optional(DocumentationSchema),
    configuration: ConfigurationSchema,
    calibration: Type.Optional(JsonObject("Errors, durations and coherence of qubits and gates, in seconds")),
    config: Type.Optional(
      JsonObject("What the SDK of its vendor calls its properties; absent: there is no such SDK"),
    ),
    deterministic: Type.Optional(
      Type.Boolean({ description: "Whether the same input with the same seed has the same result" }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({
        description:
          "Whether `run` only checks a job that has `dry_run` among its params; absent: dry runs are refused",
      }),
    ),
    price: Type.Optional(DescribedPriceSchema),
  },
  {
    additionalProperties: false,
    title: "BackendDescription",
    description: "What a backend says of itself: the result of `describe` in src/program.py",
  },
);

/** What a backend says of itself, stored with its version. */
export type BackendDescription = Static<typeof BackendDescriptionSchema>;
