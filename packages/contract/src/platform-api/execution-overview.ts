import { Type } from "typebox";
import type { Static } from "typebox";
import { ExecutionStatusSchema } from "../execution.ts";
import { READS } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { ResourcesSchema } from "../project.ts";
import { SERVICE_API } from "../service-api.ts";
import { StringEnum, Timestamp } from "../schemas.ts";
import { ExecutionFilter, ExecutionParams } from "./executions.ts";

/** What executions can be counted by. */
const COUNT_DIMENSIONS = ["status", "hour", "day", "code"] as const;
/** One of them. */
export type CountDimension = (typeof COUNT_DIMENSIONS)[number];

/** Executions that one count looks at, at most. */
export const MOST_COUNTED = 100_000;

const Count = (description: string) => Type.Integer({ minimum: 0, description });

const CountsSchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          key: Type.String({
            description:
              "The state; the hour or day in UTC, as YYYY-MM-DD HH:00:00 or YYYY-MM-DD; the code, empty where there is none",
          }),
          status: ExecutionStatusSchema,
          count: Count("Executions"),
        },
        { title: "ExecutionCount", description: "Executions of one key in one state" },
      ),
      {
        description: "By key, then by state, newest first; codes by their number. What has none is left out",
      },
    ),
    total: Count("All of them together, also of codes that are not listed"),
    isComplete: Type.Boolean({
      description: `false: there are more than were counted. At most ${MOST_COUNTED} executions are looked at, the newest ones, and at most 200 codes are listed`,
    }),
  },
  { title: "ExecutionCounts", description: "How many executions there are" },
);
/** How many executions there are. */
export type ExecutionCounts = Static<typeof CountsSchema>;

/** Why an execution does not run. */
const EXPLANATION_REASONS = {
  BEHIND_OTHERS: "others are before it in the queue",
  NEXT: "it is the next one, and a worker has room for it",
  NO_CAPACITY: "it is the next one, and no worker has enough free at present",
  NO_WORKER: "no worker is running that is large enough",
  DELAYED:
    "it is not claimed before a time, since a worker could not start it, or since it is to start later",
  LIMITED:
    "as many executions of the service, or of its subscription, run at one time as the policy of the service allows",
  PREPARING: "a worker has claimed it and prepares it; user code has not begun",
  CLAIMED: "a worker has claimed it; user code may have begun",
  NOT_WAITING: "it has ended",
} as const satisfies Record<string, string>;
/** One of them. */
type ExplanationReason = keyof typeof EXPLANATION_REASONS;

const ExplanationSchema = Type.Object(
  {
    reason: StringEnum(Object.keys(EXPLANATION_REASONS) as readonly ExplanationReason[], {
      title: "ExplanationReason",
      description: `${Object.entries(EXPLANATION_REASONS)
        .map(([reason, meaning]) => `${reason}: ${meaning}`)
        .join(". ")}. More may be added`,
    }),
    text: Type.String({ description: "The same for people, with numbers" }),
    ahead: Type.Optional(
      Count("Executions before it in the queue, of all organisations; 10,000 stands for more as well"),
    ),
    needs: ResourcesSchema,
    largestFree: Type.Optional(
      Type.Object(
        { cpu: Type.Number({ description: "vCPUs" }), memory: Type.Number({ description: "GB" }) },
        {
          title: "FreeCapacity",
          description: "What is free at the worker that has most, at present; absent: there is no worker",
        },
      ),
    ),
    typicalWaitMs: Type.Optional(
      Count(
        "Median of how long the last executions of the same owner and version have waited; absent: there were too few",
      ),
    ),
    startBy: Type.Optional(
      Timestamp(
        "When it ends if it has not begun by then (`startWithin`); absent: it waits for as long as it has to",
      ),
    ),
  },
  { title: "ExecutionExplanation", description: "Why an execution does not run" },
);
/** Why an execution does not run. */
export type ExecutionExplanation = Static<typeof ExplanationSchema>;

/** Executions of an organisation: how many, why one waits, and how one goes on. */
export const EXECUTION_OVERVIEW_API = {
  countExecutions: {
    ...READS,
    path: "/executions/counts",
    summary: "Count the executions of the organisation",
    description: `With the filters of the list. At most the newest ${MOST_COUNTED} are counted; \`isComplete\` says whether these were all. By hour: of the last day, unless \`createdAfter\` says otherwise, at most of 31 days; by day: of the last 30 days, at most of 366.`,
    query: Type.Object({
      ...ExecutionFilter,
      by: Type.Optional(
        StringEnum(COUNT_DIMENSIONS, {
          default: "status",
          description: "What is counted; default: by status",
        }),
      ),
    }),
    responses: { 200: { description: "The numbers", schema: CountsSchema } },
    problems: ["RATE_LIMITED"],
  },
  explainExecution: {
    ...READS,
    path: "/executions/{id}/explanation",
    summary: "Explain why an execution waits",
    description: "As of now. Of other organisations nothing but the number of their executions.",
    params: ExecutionParams,
    responses: { 200: { description: "The explanation", schema: ExplanationSchema } },
    problems: ["EXECUTION_NOT_FOUND", "RESULT_EXPIRED"],
  },
  followExecution: {
    ...SERVICE_API.streamEvents,
    ...READS,
    answerMode: "events",
    path: "/executions/{id}/events",
    summary: "Follow an execution of the organisation as server-sent events",
    description:
      "As `GET /jobs/{id}/events`, also of what applications of the organisation have started. Never of an incoming execution: progress and checkpoints are the subscriber's.",
    params: ExecutionParams,
    problems: [...SERVICE_API.streamEvents.problems, "NOT_SHARED"],
  },
} as const satisfies OperationTable;
