import { Type } from "typebox";
import type { Static } from "typebox";
import { ExecutionStatusSchema, StartBodySchema } from "./execution.ts";
import { FieldErrorSchema } from "./problems.ts";
import { RehearsalSchema } from "./rehearsal.ts";
import { Nullable, Timestamp } from "./schemas.ts";

/** Items of one batch, at most. */
export const MAX_BATCH_ITEMS = 1_000;
/** Bytes of the body that starts a batch, at most. */
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;

/** The body that starts a batch: one start body for each item. */
export const BatchBodySchema = Type.Object(
  {
    items: Type.Array(StartBodySchema, {
      minItems: 1,
      maxItems: MAX_BATCH_ITEMS,
      description: "One start body for each execution",
    }),
  },
  { additionalProperties: false, title: "BatchRequest", description: "Executions to start together" },
);

const Index = Type.Integer({ minimum: 0, description: "Place in `items` of the request, from 0" });

/** Of an item that is not started. */
const REFUSED = {
  code: Type.Optional(
    Type.String({ description: "Why it was not started, as the start of it alone would be refused" }),
  ),
  detail: Type.Optional(Type.String({ description: "Explanation of `code` for people" })),
  errors: Type.Optional(Type.Array(FieldErrorSchema, { description: "Fields at fault, within the item" })),
  retryAfterSeconds: Type.Optional(
    Type.Integer({ minimum: 0, description: "After how many seconds it is worth starting it again" }),
  ),
} as const;

const BatchItemSchema = Type.Object(
  {
    index: Index,
    id: Type.Optional(
      Type.String({ format: "uuid", description: "Identifier of the execution; absent: it was not started" }),
    ),
    status: Type.Optional(ExecutionStatusSchema),
    ...REFUSED,
  },
  {
    title: "BatchItem",
    description:
      "One item: `id` and `status` of its execution, or `code` and `detail`. With `id` alone, the execution has been removed",
  },
);
/** One item of a batch as on the wire. */
export type BatchItem = Static<typeof BatchItemSchema>;

const Count = (description: string) => Type.Integer({ minimum: 0, description });

/** A batch as on the wire: how far it is, and a page of its items. */
export const BatchSchema = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Identifier of the batch" }),
    createdAt: Timestamp("When the batch was created"),
    complete: Type.Boolean({
      description:
        "Whether every item was started or refused; false: its request is under way, or was cut off and can be repeated with its Idempotency-Key",
    }),
    terminal: Type.Boolean({ description: "Whether nothing of it changes any more" }),
    cancelled: Type.Boolean({ description: "Whether its cancellation was requested" }),
    total: Count("Items of the request"),
    done: Count("Items of which nothing more comes: ended, refused or removed"),
    failed: Count("Executions that ended FAILED or UNKNOWN"),
    refused: Count("Items that were not started"),
    counts: Type.Object(
      {
        PENDING: Count("Executions that wait"),
        RUNNING: Count("Executions that run"),
        SUCCEEDED: Count("Executions that succeeded"),
        FAILED: Count("Executions that did not succeed"),
        UNKNOWN: Count("Executions of which nobody knows whether they succeeded"),
      },
      { title: "BatchCounts", description: "Executions by state" },
    ),
    items: Type.Array(BatchItemSchema, {
      maxItems: MAX_BATCH_ITEMS,
      description: "In the order of the request: all of them where it is answered, later in pages",
    }),
    nextCursor: Nullable(Type.String({ description: "Where the next page begins; null on the last one" })),
  },
  { title: "Batch", description: "Executions that were started together" },
);
/** A batch as on the wire. */
export type Batch = Static<typeof BatchSchema>;

/** The answer to the start of a batch that is a rehearsal: nothing was created. */
export const BatchRehearsalSchema = Type.Object(
  {
    valid: Type.Boolean({ description: "Whether every item would be started" }),
    total: Count("Items of the request"),
    refused: Count("Items that would not be started"),
    items: Type.Array(
      Type.Object(
        { index: Index, rehearsal: Type.Optional(RehearsalSchema), ...REFUSED },
        {
          title: "RehearsedItem",
          description: "One item: `rehearsal`, after those before it were started, or `code` and `detail`",
        },
      ),
      { maxItems: MAX_BATCH_ITEMS, description: "In the order of the request" },
    ),
  },
  { title: "BatchRehearsal", description: "What the start of a batch would do, as of now" },
);
/** The answer to the start of a batch that is a rehearsal. */
export type BatchRehearsal = Static<typeof BatchRehearsalSchema>;
