import { Type } from "typebox";
import type { Static } from "typebox";
import { READS } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { BACKEND_ID_PATTERN } from "../project.ts";
import { JsonObject, Nullable, StringEnum, Timestamp } from "../schemas.ts";
import { BACKEND_TYPES, BackendDescriptionSchema, DocumentationSchema } from "./description.ts";
import { BackendPriceSchema } from "./price.ts";

/** States of a backend, as clients know them. */
const BACKEND_STATES = ["ONLINE", "PAUSED", "OFFLINE"] as const;

const { configuration } = BackendDescriptionSchema.properties;

const BackendId = Type.String({ pattern: BACKEND_ID_PATTERN, description: "Such as sim.statevector" });

const BackendSchema = Type.Object(
  {
    id: BackendId,
    internal_id: Type.String({ description: "Key of the service that it is" }),
    name: BackendId,
    display_name: Type.String({ description: "Name for people" }),
    provider: Type.String({ description: "Who gives access to it" }),
    hardware_provider: Nullable(Type.String(), { description: "Who has made it; null: it does not say" }),
    type: StringEnum(BACKEND_TYPES, { description: "QPU: a quantum computer; SIMULATOR; ANNEALER" }),
    technology: Type.String({ description: "Such as SUPERCONDUCTING; UNKNOWN: it does not say" }),
    status: StringEnum(BACKEND_STATES, {
      description:
        "ONLINE: it runs jobs. PAUSED: jobs wait, since no worker runs them at present. OFFLINE: it takes none",
    }),
    queue_size: Type.Integer({
      description: "Jobs that wait, of all organisations; 10,000 of all backends are counted",
    }),
    access_type: StringEnum(["FREE"], { description: "How it is paid for" }),
    has_calibration: Type.Boolean({ description: "Whether there are calibration data" }),
    deterministic: Type.Boolean({
      description: "Whether the same input with the same seed has the same result",
    }),
    dry_run: Type.Optional(
      Type.Boolean({
        description: "Whether it answers dry runs; false or absent: a job with `dry_run` is refused",
      }),
    ),
    price: BackendPriceSchema,
    backend_version: Type.String({
      description: "Version of the service that runs new jobs, MAJOR.MINOR.PATCH",
    }),
    updated_at: Type.String({
      pattern: "^\\d{4}-\\d{2}-\\d{2}$",
      description:
        "The day on which that version was made, YYYY-MM-DD in UTC: published clients read no time",
      examples: ["2026-11-20"],
    }),
    documentation: DocumentationSchema,
    configuration: Type.Optional(configuration),
  },
  { title: "Backend", description: "What runs quantum jobs" },
);
/** A backend as the quantum API has it. */
export type Backend = Static<typeof BackendSchema>;

const StatusSchema = Type.Object(
  {
    status: BackendSchema.properties.status,
    queue_size: BackendSchema.properties.queue_size,
    queue_avg_time: Type.Integer({
      description: "Median wait of its last jobs in seconds, rounded up; 0: none has run",
    }),
  },
  { title: "BackendStatus", description: "The state of a backend at this moment" },
);

/** What a version of a backend has said of its qubits and gates. */
const CalibrationSchema = Type.Object(
  {
    backend_version: Type.String({ description: "The version that has said so, MAJOR.MINOR.PATCH" }),
    calibrated_at: Timestamp("When that version was made"),
    retired_at: Nullable(Timestamp("When that version was retired"), {
      description: "Null: it may still run jobs",
    }),
    calibration: JsonObject("As `describe` has returned it"),
  },
  { title: "BackendCalibration", description: "The calibration of a version of a backend" },
);

const CalibrationsSchema = Type.Object(
  {
    content: Type.Array(CalibrationSchema, { description: "The newest first" }),
    last: Type.Boolean({ description: "Whether there are no older ones that match" }),
  },
  { title: "BackendCalibrations", description: "Calibrations of a backend" },
);

const BackendParams = Type.Object({
  backendId: Type.String({ maxLength: 63, description: "Id of a backend" }),
});

const ONE = { params: BackendParams, problems: ["BACKEND_NOT_FOUND"] } as const;

const BackendsQuery = Type.Object({
  provider: Type.Optional(Type.String({ maxLength: 200, description: "Only those of this provider" })),
  type: Type.Optional(StringEnum(BACKEND_TYPES, { description: "Only those of this type" })),
  minQubits: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: "Only those with so many qubits" }),
  ),
  // Published clients send these; all backends can be had by any client.
  onlyPlanqkSdk: Type.Optional(
    Type.String({ maxLength: 10, description: "Whatever it says: only those that have qubits and gates" }),
  ),
  onlyQiskit: Type.Optional(Type.String({ maxLength: 10, description: "The same" })),
});

/** Operations on backends. */
export const BACKENDS_API = {
  listBackends: {
    ...READS,
    path: "/backends",
    forExecutions: true,
    summary: "List the backends of the organisation",
    description: "All of them, by id: an array, as clients of quantum platforms expect it.",
    query: BackendsQuery,
    responses: {
      200: {
        description: "The backends",
        schema: Type.Array(BackendSchema, { description: "The backends, by id" }),
      },
    },
  },
  findLeastBusyBackend: {
    ...READS,
    path: "/backends/least-busy",
    forExecutions: true,
    summary: "Find the backend with the fewest waiting jobs",
    description: "Of those that are ONLINE and match. BACKEND_NOT_FOUND: there is none.",
    query: BackendsQuery,
    responses: { 200: { description: "The backend", schema: BackendSchema } },
    problems: ["BACKEND_NOT_FOUND"],
  },
  getBackend: {
    ...READS,
    ...ONE,
    path: "/backends/{backendId}",
    forExecutions: true,
    summary: "Get a backend",
    description: "With what jobs may ask of it.",
    responses: { 200: { description: "The backend", schema: BackendSchema } },
  },
  getBackendStatus: {
    ...READS,
    ...ONE,
    rate: "poll",
    path: "/backends/{backendId}/status",
    forExecutions: true,
    summary: "Get the state of a backend",
    description: "And how many jobs wait for it.",
    responses: { 200: { description: "The state", schema: StatusSchema } },
  },
  getBackendCalibration: {
    ...READS,
    ...ONE,
    path: "/backends/{backendId}/calibration",
    forExecutions: true,
    summary: "Get the calibration of a backend",
    description:
      "Errors, durations and coherence of its qubits and gates, as it describes itself; with `effectiveAt`, as the version did that ran new jobs then. 204: it has none.",
    query: Type.Object({
      effectiveAt: Type.Optional(Timestamp("As of then; default: now")),
    }),
    responses: {
      200: { description: "The calibration", schema: JsonObject("As `describe` has returned it") },
      204: { description: "The backend has none" },
    },
  },
  listBackendCalibrations: {
    ...READS,
    ...ONE,
    path: "/backends/{backendId}/calibration-history",
    forExecutions: true,
    summary: "List the calibrations of a backend",
    description:
      "Of all its versions that have one, the newest first: a calibration is what `describe` has returned when a version was built. 1 MB at most, but one at least; `before` with the last `backend_version` has the next page. Of a backend that another organisation shares, from the version on that was the newest then.",
    query: Type.Object({
      start: Type.Optional(Timestamp("Only of versions that were made then or later")),
      end: Type.Optional(Timestamp("Only of versions that were made before")),
      before: Type.Optional(
        Type.String({ maxLength: 40, description: "Only of versions that are older than this one" }),
      ),
      size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "Default 20" })),
    }),
    responses: { 200: { description: "The calibrations", schema: CalibrationsSchema } },
  },
  getBackendConfig: {
    ...READS,
    ...ONE,
    path: "/backends/{backendId}/config",
    forExecutions: true,
    summary: "Get what a backend says of itself",
    description:
      "`config` of what `describe` has returned when its version was built: what the SDK of its vendor calls its properties. Where there is none, all that it has returned.",
    responses: {
      200: { description: "The description", schema: JsonObject("Of what `describe` has returned") },
    },
  },
} as const satisfies OperationTable;
