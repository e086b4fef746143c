import { Type } from "typebox";
import { ExecutionStatusSchema, LinkSchema } from "./execution.ts";
import type { OperationTable } from "./operation.ts";
import { JsonObject, Nullable, Timestamp } from "./schemas.ts";
import { SERVICE_API } from "./service-api.ts";

const LocalStatusSchema = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Identifier of the execution" }),
    status: ExecutionStatusSchema,
    created_at: Timestamp("When the execution was created"),
    started_at: Nullable(Timestamp("When user code may have begun")),
    ended_at: Nullable(Timestamp("When the execution reached its final state")),
  },
  { title: "LocalStatus", description: "The state with which the execution ended" },
);

/** Result in the form of the local server: the output of the service as top-level fields, or `code` and `detail`. */
const LocalResultSchema = Type.Object(
  {
    code: Type.Optional(Type.Unknown({ description: "Why it did not succeed (FAILED, UNKNOWN)" })),
    detail: Type.Optional(Type.Unknown({ description: "Explanation of `code` for people" })),
    _links: Type.Object(
      { status: LinkSchema },
      {
        additionalProperties: LinkSchema,
        title: "LocalResultLinks",
        description: "The state, and each file of the result by its name",
      },
    ),
    _embedded: Type.Object(
      {
        status: LocalStatusSchema,
        metadata: Type.Optional(
          JsonObject("What a deployed service returns as `metadata` of an execution that succeeded"),
        ),
      },
      { title: "LocalResultEmbedded", description: "The state with which the execution ended" },
    ),
  },
  {
    title: "LocalResult",
    additionalProperties: true,
    description:
      "The output of the service as top-level fields (SUCCEEDED), or code and detail (FAILED, UNKNOWN). A deployed service returns the output inside `result`.",
  },
);

const {
  startExecution,
  listExecutions,
  getState,
  getResult,
  getResultFile,
  getReceipt,
  getLog,
  streamEvents,
  cancelExecution,
  startBatch,
  getBatch,
  cancelBatch,
} = SERVICE_API;

const LOCAL = { scope: "local" } as const;

/** The service API of `platform serve`: the same operations as `SERVICE_API`, with results in the flat form. */
export const LOCAL_SERVICE_API = {
  startExecution: { ...startExecution, ...LOCAL, problems: ["DATA_REFERENCE_INVALID", "RATE_LIMITED"] },
  listExecutions: { ...listExecutions, ...LOCAL },
  getState: { ...getState, ...LOCAL },
  getResult: {
    ...getResult,
    ...LOCAL,
    responses: {
      200: { description: "Result, or cause of failure", schema: LocalResultSchema },
    },
  },
  getResultFile: { ...getResultFile, ...LOCAL },
  getReceipt: { ...getReceipt, ...LOCAL },
  getLog: { ...getLog, ...LOCAL },
  streamEvents: { ...streamEvents, ...LOCAL },
  cancelExecution: { ...cancelExecution, ...LOCAL },
  startBatch: { ...startBatch, ...LOCAL, problems: ["IDEMPOTENCY_CONFLICT", "CONFLICT", "RATE_LIMITED"] },
  getBatch: { ...getBatch, ...LOCAL },
  cancelBatch: { ...cancelBatch, ...LOCAL },
} as const satisfies OperationTable;
