import { expect, expectTypeOf, test } from "vitest";
import type { LogEntry, StatusRecord } from "./execution.ts";
import { readOperationEvents } from "./operation-events.ts";
import type { EventOf } from "./operation-events.ts";
import { BUILDS_API } from "./platform-api/builds.ts";
import type { JOBS_API } from "./platform-api/jobs.ts";
import { PLATFORM_API } from "./platform-api/platform-api.ts";
import { SERVICE_API } from "./service-api.ts";

const STREAM = [
  'event: state\ndata: {"status": "RUNNING"}\n\n',
  'id: 7:2\nevent: log\ndata: {"offset": 0, "lines": ["a", "b"]}\n\n',
  ":\n\n",
  'event: of a newer platform\ndata: {"x": 1}\n\n',
  'event: toString\ndata: {"x": 1}\n\n',
  'event: closed\ndata: {"code": "UNAVAILABLE", "detail": "The server stops."}\n\n',
].join("");

test("the events of a stream are read with their data, but for those that the row does not name", async () => {
  const read: unknown[] = [];
  for await (const event of readOperationEvents(BUILDS_API.followBuild, new Response(STREAM)))
    read.push(event);
  expect(read).toEqual([
    { event: "state", data: { status: "RUNNING" }, id: null },
    { event: "log", data: { offset: 0, lines: ["a", "b"] }, id: "7:2" },
    { event: "closed", data: { code: "UNAVAILABLE", detail: "The server stops." }, id: "7:2" },
  ]);
});

test("an answer without a body has no events", async () => {
  const events = readOperationEvents(BUILDS_API.followBuild, { body: null });
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

test("every row whose answer is a stream of events names its events", () => {
  const rows = Object.entries({ ...PLATFORM_API, ...SERVICE_API }).filter(([, { answerMode }]) =>
    ["events", "json-or-events"].includes(answerMode),
  );
  expect(rows.map(([id]) => id).toSorted()).toEqual([
    "followBuild",
    "followExecution",
    "listEvents",
    "streamEvents",
    "streamJobEvents",
  ]);
  for (const [id, row] of rows)
    expect([id, Object.keys("events" in row ? row.events : {})]).not.toEqual([id, []]);
});

test("the type of an event says what its data is", () => {
  type Of<K extends string> = Extract<
    EventOf<(typeof JOBS_API)["streamJobEvents"]>,
    { readonly event: K }
  >["data"];
  expectTypeOf<Of<"state">>().toEqualTypeOf<StatusRecord>();
  expectTypeOf<Of<"log">>().toEqualTypeOf<LogEntry[]>();
  expectTypeOf<Of<"end">>().toEqualTypeOf<object>();
});
