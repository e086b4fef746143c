import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, REMOVES, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { PageQuery } from "../service-api.ts";
import { VISIBLE } from "../visible-text.ts";
import { JsonObject, Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";
import { idOf } from "./common.ts";
import { FollowedVersion } from "./subscriptions.ts";

/** What becomes of an occurrence while the execution that the schedule started last has not ended. */
export const OVERLAPS = ["skip", "queue"] as const;

/** What becomes of an occurrence of a schedule; the last four are final. */
const SCHEDULE_RUN_STATUSES = ["STARTING", "STARTED", "SKIPPED", "MISSED", "REFUSED"] as const;

/** The largest start body of a schedule, in bytes of JSON text. */
export const MAX_SCHEDULE_BODY_BYTES = 65_536;

const Name = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: `^(?=.*\\S)${VISIBLE}`,
  description: "Name, unique within the organisation: one line, without characters that are not seen",
  examples: ["nightly"],
});

const CronText = Type.String({
  minLength: 1,
  maxLength: 256,
  description:
    "Five fields: minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly, @monthly, @yearly",
  examples: ["30 2 * * MON-FRI"],
});

const TimeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "IANA name of the time zone in which the fields are read; default: UTC",
  examples: ["Europe/Berlin"],
});

const Overlap = StringEnum(OVERLAPS, {
  title: "ScheduleOverlap",
  description:
    "What happens while the execution that was started last has not ended. skip: nothing is started. queue: another one is started",
});

const Target = Type.Object(
  {
    serviceKey: Type.Optional(
      Type.String({ description: "Key of a service of the organisation: each occurrence is a job" }),
    ),
    version: Type.Optional({
      ...FollowedVersion,
      description:
        "Only with serviceKey: MAJOR.MINOR.PATCH pins this version; MAJOR alone follows the highest live version of this major number; missing: the highest live version",
    }),
    subscriptionId: Type.Optional(
      Type.String({
        description:
          "A subscription of an application of the organisation: each occurrence is an execution of it, with the version that it names",
      }),
    ),
  },
  {
    additionalProperties: false,
    title: "ScheduleTarget",
    description: "What is started: either a service or a subscription",
  },
);

const StartBody = JsonObject(
  `What every start sends: data or dataRef, params or paramsRef, persistTo; default: an empty object. At most ${MAX_SCHEDULE_BODY_BYTES} bytes, as JSON text without white space; larger input by reference`,
);

const RunSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the run" }),
    trigger: StringEnum(["CRON", "MANUAL"], {
      title: "ScheduleTrigger",
      description: "CRON: it was due. MANUAL: it was asked for",
    }),
    dueAt: Timestamp("When it was due, or asked for"),
    status: StringEnum(SCHEDULE_RUN_STATUSES, {
      title: "ScheduleRunStatus",
      description:
        "STARTING: being started. STARTED: it is an execution. SKIPPED: the last one had not ended. MISSED: the platform did not run in time. REFUSED: the start was refused, as code and detail say",
    }),
    executionId: Nullable(Type.String(), { description: "The execution; null unless STARTED" }),
    code: Nullable(Type.String(), { description: "Code of the refusal; null: it was not refused" }),
    detail: Nullable(Type.String(), { description: "Why nothing was started; null: something was" }),
  },
  { title: "ScheduleRun", description: "One occurrence of a schedule, and what became of it" },
);

/** One occurrence of a schedule, and what became of it. */
export type ScheduleRun = Static<typeof RunSchema>;

const Pause = Type.Object(
  {
    code: Type.String({ description: "Code of the last refusal" }),
    detail: Type.String({ description: "What the last refusal said" }),
    at: Timestamp("When it was paused"),
  },
  { title: "SchedulePause", description: "Why the platform has paused a schedule" },
);

const ScheduleSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the schedule" }),
    name: Name,
    cron: CronText,
    timeZone: TimeZone,
    overlap: Overlap,
    target: Target,
    enabled: Type.Boolean({ description: "false: it is paused" }),
    pause: Nullable(Pause, {
      description: "Why the platform has paused it; null: it has not, or a user has",
    }),
    nextAt: Nullable(Timestamp("When it is due next"), {
      description: "When it is due next, YYYY-MM-DD HH:MM:SS in UTC; null: it is paused",
    }),
    lastRun: Nullable(RunSchema, { description: "The last run; null: there was none" }),
    createdAt: Timestamp("When it was created"),
  },
  { title: "Schedule", description: "Starts executions at times of a calendar" },
);

/** Starts executions at times of a calendar. */
export type Schedule = Static<typeof ScheduleSchema>;

const DetailsSchema = Type.Object(
  {
    ...ScheduleSchema.properties,
    body: StartBody,
    nextTimes: Type.Array(Timestamp("When it is due"), {
      description: "When it is due next, five times; empty: it is paused",
    }),
  },
  { title: "ScheduleDetails", description: "A schedule with what it sends" },
);

/** A schedule with what it sends. */
export type ScheduleDetails = Static<typeof DetailsSchema>;

/** What may be given of a schedule. */
const GIVEN = {
  timeZone: Type.Optional(TimeZone),
  overlap: Type.Optional(Overlap),
  body: Type.Optional(StartBody),
  enabled: Type.Optional(Type.Boolean({ description: "false: it is paused; default: true" })),
};

const OF_ONE = { params: idOf("schedule"), problems: ["NOT_FOUND"] } as const;
/** Of what a start is refused with, what is known before it is due. */
const NOT_STARTABLE = [
  "NOT_FOUND",
  "SERVICE_NOT_FOUND",
  "SUBSCRIPTION_ENDED",
  "VERSION_RETIRED",
  "DATA_REFERENCE_INVALID",
  "INPUT_TOO_LARGE",
  "CONFLICT",
] as const;

/** Schedules of an organisation, and what they have started. */
export const SCHEDULES_API = {
  listSchedules: {
    ...READS,
    path: "/schedules",
    summary: "List the schedules of the organisation",
    description: "Newest first, without what they send.",
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("SchedulePage", ScheduleSchema) } },
  },
  createSchedule: {
    ...WRITES,
    path: "/schedules",
    allows: "edit",
    audit: "schedule.create",
    summary: "Create a schedule",
    description:
      "From the next occurrence on, each one starts an execution, exactly once: a job of a service, or an execution of a subscription. It is refused as any start is, and the schedule goes on; one that could never start anything is paused after five refusals.",
    keepsDigits: true,
    body: Type.Object(
      { name: Name, cron: CronText, target: Target, ...GIVEN },
      {
        additionalProperties: false,
        title: "CreateScheduleRequest",
        description: "When to start what; without overlap: skip",
      },
    ),
    responses: { 201: { description: "Created", schema: DetailsSchema } },
    problems: [...NOT_STARTABLE, "QUOTA_EXCEEDED"],
  },
  getSchedule: {
    ...READS,
    ...OF_ONE,
    path: "/schedules/{id}",
    summary: "Get a schedule",
    description: "With what it sends, and when it is due.",
    responses: { 200: { description: "Schedule", schema: DetailsSchema } },
  },
  putSchedule: {
    ...WRITES,
    ...OF_ONE,
    method: "PUT",
    path: "/schedules/{id}",
    allows: "edit",
    audit: "schedule.update",
    summary: "Change a schedule, pause or resume it",
    description:
      "What is left out stays. Jobs are started with the rights of who has changed the schedule last. What was due while it was paused is not started.",
    keepsDigits: true,
    body: Type.Object(
      {
        name: Type.Optional(Name),
        cron: Type.Optional(CronText),
        target: Type.Optional(Target),
        ...GIVEN,
      },
      {
        additionalProperties: false,
        minProperties: 1,
        title: "PutScheduleRequest",
        description: "What is changed",
      },
    ),
    responses: { 200: { description: "Changed", schema: DetailsSchema } },
    problems: NOT_STARTABLE,
  },
  deleteSchedule: {
    ...REMOVES,
    ...OF_ONE,
    path: "/schedules/{id}",
    allows: "edit",
    audit: "schedule.delete",
    summary: "Delete a schedule",
    description: "With the list of its runs. What it has started stays.",
    responses: { 204: { description: "Deleted" } },
  },
  runSchedule: {
    ...WRITES,
    path: "/schedules/{id}/run",
    allows: "run",
    audit: "schedule.run",
    bodyMode: "none",
    summary: "Start what a schedule starts, now",
    description:
      "Also while it is paused, and while the last one has not ended. A job has the rights of who asks for it here. A 201 means that it is started, or will be: it is STARTING while the platform cannot start it.",
    params: idOf("schedule"),
    responses: { 201: { description: "The run", schema: RunSchema } },
    problems: [
      "NOT_FOUND",
      "SERVICE_NOT_FOUND",
      "NOT_SUBSCRIBED",
      "SUBSCRIPTION_ENDED",
      "VERSION_RETIRED",
      "DATA_REFERENCE_INVALID",
      "INPUT_TOO_LARGE",
      "RATE_LIMITED",
      "QUOTA_EXCEEDED",
    ],
  },
  listScheduleRuns: {
    ...READS,
    ...OF_ONE,
    path: "/schedules/{id}/runs",
    summary: "List the last runs of a schedule",
    description: "Newest first; the last hundred are kept.",
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("ScheduleRunPage", RunSchema) } },
  },
} as const satisfies OperationTable;
