import { Type } from "typebox";
import type { Static } from "typebox";
import { ExecutionStatusSchema } from "../execution.ts";
import { READS } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { LastEventHeaders, PageQuery } from "../service-api.ts";
import { Nullable, Timestamp, pageOf } from "../schemas.ts";
import { KeyParams, VersionNumber } from "./common.ts";

const STATE = {
  version: VersionNumber,
  status: ExecutionStatusSchema,
  terminal: Type.Boolean({ description: "Whether the status is final" }),
  code: Type.Optional(Type.String({ description: "Why there is no version (FAILED, UNKNOWN)" })),
  detail: Type.Optional(Type.String({ description: "Explanation of `code` for people" })),
  buildsBefore: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        "While it is PENDING, how many other builds are likely to come before it; 0: it is the next. Not in lists, nor in the answer to an upload",
    }),
  ),
  createdAt: Timestamp("When the build was stored durably"),
  startedAt: Type.Optional(Timestamp("When it started")),
  endedAt: Type.Optional(Timestamp("When it reached its final state")),
};

/** State and log of a build. */
export const BuildSchema = Type.Object(
  {
    ...STATE,
    log: Type.Array(Type.String(), { description: "Lines from `offset` on" }),
    nextOffset: Type.Integer({ description: "Pass as `offset` to read the next lines" }),
  },
  { title: "Build", description: "State and log of a build" },
);

/** State and log of a build. */
export type Build = Static<typeof BuildSchema>;

const BuildSummarySchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the build" }),
    ...STATE,
    isForced: Type.Boolean({
      description: "Whether an input schema was accepted that breaks callers of the same major number",
    }),
    createdBy: Nullable(Type.String(), {
      description: "Name of the user who deployed; null: there is no such user",
    }),
  },
  { title: "BuildSummary", description: "A build without its log" },
);

/** A build without its log. */
export type BuildSummary = Static<typeof BuildSummarySchema>;

const BuildLinesSchema = Type.Object(
  {
    offset: Type.Integer({ description: "Number of the first line, from 0" }),
    lines: Type.Array(Type.String(), { description: "Lines of the log" }),
  },
  { title: "BuildLines", description: "Lines of a build's log" },
);

/** The path parameters of operations on one version. */
export const VersionParams = Type.Object({
  key: Type.String({ description: "Key of the service" }),
  version: VersionNumber,
});

/** Operations on builds, besides starting one. */
export const BUILDS_API = {
  listBuilds: {
    ...READS,
    path: "/services/{key}/builds",
    summary: "List the builds of a service",
    description: "Newest first, without their logs. Failed builds are listed until their logs are removed.",
    params: KeyParams,
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("BuildPage", BuildSummarySchema) } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  getBuild: {
    ...READS,
    path: "/services/{key}/versions/{version}/build",
    rate: "poll",
    summary: "Get state and log of the latest build of a version",
    description: "The log is returned in pages; `nextOffset` is the `offset` of the next page.",
    params: VersionParams,
    query: Type.Object({
      offset: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 999_999_999,
          default: 0,
          description: "Number of the first log line to return, from 0",
        }),
      ),
    }),
    responses: { 200: { description: "Build", schema: BuildSchema } },
    problems: ["SERVICE_NOT_FOUND"],
  },
  followBuild: {
    ...READS,
    path: "/services/{key}/versions/{version}/build/events",
    answerMode: "events",
    summary: "Follow the latest build of a version as server-sent events",
    description:
      "First `state`, the build without its log; then `log` with the lines that are there and those that follow, and `state` where it changes. After the last line comes the final `state`, then `end`, and the stream is closed. With the `id` of a `log` as Last-Event-ID a request continues behind these lines, with the same build. `closed` has `code` and `detail`: the platform ends the stream before, such as when it stops. A comment comes after 15 seconds without an event.",
    params: VersionParams,
    headers: LastEventHeaders,
    responses: { 200: { description: "The events, until the build has ended" } },
    events: {
      state: { description: "The build", schema: BuildSummarySchema },
      log: { description: "Lines of its log", schema: BuildLinesSchema },
      end: { description: "The build has ended, and all was sent", schema: Type.Object({}) },
    },
    problems: ["SERVICE_NOT_FOUND", "RATE_LIMITED"],
  },
} as const satisfies OperationTable;
