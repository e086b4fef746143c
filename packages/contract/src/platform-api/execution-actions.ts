import { Type } from "typebox";
import type { Static } from "typebox";
import { MOST_CANCELLED, MOST_CANCELLED_IDS } from "../limits.ts";
import { WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { REHEARSES, SERVICE_API } from "../service-api.ts";
import { VersionNumber } from "./common.ts";
import { ExecutionFilter } from "./executions.ts";

const Filter = Type.Object(ExecutionFilter, {
  additionalProperties: false,
  title: "ExecutionFilter",
  description: "As the parameters of the list; only executions that have not ended, and never incoming ones",
});

const CancelSchema = Type.Object(
  {
    ids: Type.Optional(
      Type.Array(
        Type.String({
          pattern: "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
          description: "Identifier of an execution",
        }),
        { minItems: 1, maxItems: MOST_CANCELLED_IDS, description: "These executions; in place of `filter`" },
      ),
    ),
    filter: Type.Optional(Filter),
    expected: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MOST_CANCELLED,
        description:
          "With `filter`: how many executions the caller has seen that it matches. If there are over a tenth more, nothing is cancelled (409)",
      }),
    ),
  },
  {
    additionalProperties: false,
    title: "CancelExecutionsRequest",
    description: "Which executions to cancel: `ids`, or `filter` and `expected`",
  },
);

const Count = (description: string) => Type.Integer({ minimum: 0, description });

const CancelledSchema = Type.Object(
  {
    matched: Count("Executions of the organisation among `ids`, or those that the filter has matched"),
    cancelled: Count("Executions that were ended, or, where they run, are being stopped"),
    finishedMeanwhile: Count("Executions that had ended before"),
  },
  { title: "CancelledExecutions", description: "What became of them" },
);
/** What became of executions that were to be cancelled. */
export type CancelledExecutions = Static<typeof CancelledSchema>;

/** Executions of an organisation: what changes them. */
export const EXECUTION_ACTIONS_API = {
  cancelExecutions: {
    ...WRITES,
    path: "/executions/cancel",
    allows: "run",
    audit: "executions.cancel",
    summary: "Cancel executions",
    description: `By their ids, at most ${MOST_CANCELLED_IDS}, or all that a filter matches, at most ${MOST_CANCELLED}. Jobs, and what applications of the organisation have started; ids of others are as if they did not exist. What waits ends at once, what runs within seconds.`,
    body: CancelSchema,
    responses: { 200: { description: "What became of them", schema: CancelledSchema } },
    problems: ["CONFLICT"],
  },
  startSubscriptionExecution: {
    ...SERVICE_API.startExecution,
    scope: "organisation",
    allows: "run",
    path: "/subscriptions/{id}/executions",
    audit: "subscription.try",
    summary: "Start an execution as an application",
    description: `To try a subscription: the execution belongs to it, as if its application had started it at the gateway. It counts for the plan and for the limits of the application. A 201 means that it is durable. ${REHEARSES}`,
    params: Type.Object({ id: Type.String({ description: "Identifier of the subscription" }) }),
    query: Type.Object({
      version: Type.Optional({
        ...VersionNumber,
        description: "MAJOR.MINOR.PATCH; default: the version that the subscription names",
      }),
    }),
    problems: [
      "NOT_FOUND",
      "SERVICE_NOT_FOUND",
      "NOT_SUBSCRIBED",
      "SUBSCRIPTION_ENDED",
      "VERSION_RETIRED",
      "DATA_REFERENCE_INVALID",
      "RATE_LIMITED",
      "QUOTA_EXCEEDED",
    ],
  },
} as const satisfies OperationTable;
