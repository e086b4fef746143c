import { Type } from "typebox";
import type { Static } from "typebox";
import { ExecutionStatusSchema } from "./execution.ts";
import type { OperationTable } from "./operation.ts";
import { Nullable, StringEnum, Timestamp } from "./schemas.ts";
import { LastEventHeaders, PreferHeaders } from "./service-api.ts";

/** Largest, and default, number of events in one answer. */
export const MAX_FEED_PAGE = 100;

/** For how many days an event can be read. */
const FEED_DAYS = 7;

const FeedEventSchema = Type.Object(
  {
    cursor: Type.String({ description: "Where to continue behind this event" }),
    executionId: Type.String({ format: "uuid" }),
    status: ExecutionStatusSchema,
    code: Type.Optional(Type.String({ description: "Why it did not succeed" })),
    at: Timestamp("When the state changed"),
    serviceKey: Type.String({ format: "uuid" }),
    version: Type.String({ description: "MAJOR.MINOR.PATCH" }),
    subscriptionId: Nullable(
      Type.String({ format: "uuid", description: "Null: a job, or an execution of another organisation" }),
    ),
    kind: StringEnum(["outgoing", "incoming", "job"], {
      description:
        "`outgoing`: an application of the organisation has started it. `incoming`: another organisation has started a service of this one. `job`: the organisation has started it itself.",
    }),
  },
  { title: "FeedEvent", description: "An execution has changed its state" },
);

/** A change of state, as every feed shows it. */
export type FeedItem = Static<typeof FeedEventSchema>;

const FeedPageSchema = Type.Object(
  {
    items: Type.Array(FeedEventSchema),
    cursor: Type.String({ description: "Where to continue: `after` of the next request" }),
  },
  { title: "FeedPage", description: "Changes of state, in their order" },
);

/** What every feed has in common. */
export const FEED = {
  method: "GET",
  path: "/events",
  audit: null,
  rate: "poll",
  bodyMode: "none",
  answerMode: "json-or-events",
  description: `Every change of state at least once, in its order for each execution; each is kept for ${FEED_DAYS} days. With \`Prefer: wait=N\` the answer is delayed until there is an event, at most N seconds. With \`Accept: text/event-stream\` it is a stream of server-sent events: first \`cursor\`, whose \`id\` is where the stream begins, then \`change\` for each event, whose \`id\` is its cursor, and at times \`cursor\` while there is none; \`Last-Event-ID\` is then \`after\`.`,
  query: Type.Object({
    after: Type.Optional(
      Type.String({
        maxLength: 200,
        description:
          "The cursor to continue behind; `0`: the oldest event that is kept. Missing: from now on",
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_FEED_PAGE,
        default: MAX_FEED_PAGE,
        description: "Events per page",
      }),
    ),
  }),
  headers: Type.Object({ ...PreferHeaders.properties, ...LastEventHeaders.properties }),
  responses: { 200: { description: "The next events", schema: FeedPageSchema } },
  events: {
    cursor: { description: "Its id is where the stream is", schema: Type.Object({}) },
    change: { description: "An execution has changed its state", schema: FeedEventSchema },
  },
  problems: ["CURSOR_EXPIRED", "RATE_LIMITED"],
} as const;

/** The operations of the gateway that are none of a service, below its origin. */
export const GATEWAY_API = {
  readEvents: {
    ...FEED,
    allows: "caller",
    scope: "application",
    summary: "Read the changes of state of all executions of the application",
  },
} as const satisfies OperationTable;

/** The feed of `platform serve`: of all that its executions do, in memory. */
export const LOCAL_FEED_API = {
  readEvents: {
    ...FEED,
    allows: "caller",
    scope: "local",
    summary: "Read the changes of state of all executions of this server",
    description: `${FEED.description} The local server keeps the last 10,000 events, and forgets them when it ends. Its \`version\` is \`local\`, and \`serviceKey\` has zeros.`,
  },
} as const satisfies OperationTable;
