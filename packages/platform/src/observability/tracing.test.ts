import { readMonotonic } from "@platform/engine/base/monotonic";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { afterEach, expect, test } from "vitest";
import { startOtlpCollector } from "../../../../tests/support/otlp-collector.ts";
import type { OtlpCollector } from "../../../../tests/support/otlp-collector.ts";
import { createRecordingLogger } from "../testing/test-database.ts";
import { createExposition } from "./exposition.ts";
import { startTracing } from "./tracing.ts";
import type { Tracing, TracingOptions } from "./tracing.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const GIVEN = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: "acme=1" };

let collector: OtlpCollector | null = null;
let tracing: Tracing | null = null;

afterEach(async () => {
  await tracing?.close();
  await collector?.close();
  collector = tracing = null;
});

async function open(given: Partial<TracingOptions> = {}) {
  const logger = createRecordingLogger();
  const started = await startTracing({
    endpoint: collector?.url ?? "http://127.0.0.1:9",
    headers: {},
    ratio: 1,
    version: "1.2.3",
    logger,
    ...given,
  });
  tracing = started;
  const read = (outcome: string): number => {
    const exposition = createExposition();
    started.collect(exposition);
    return Number(new RegExp(`outcome="${outcome}"\\} (\\d+)`, "u").exec(exposition.toText())?.[1]);
  };
  return { ...started, logger, read };
}

function flagsOf(traceparent: string | undefined): string | undefined {
  return traceparent?.split("-")[3];
}

test("an execution is a start, and below it queue, prepare and run, in the trace of the caller", async () => {
  collector = await startOtlpCollector();
  const { tracer, close } = await open({ headers: { authorization: "Bearer hush" } });
  const id = createUuidV7();
  const start = tracer.start(GIVEN, "version");
  start.end(id);
  const claim = {
    id,
    versionId: "version",
    attempt: 1,
    ...(start.context === null ? {} : { trace: start.context }),
  };
  const run = tracer.run(claim);
  const handed = run.handOver();
  run.end("FAILED", "EXECUTION_ERROR");
  run.end("LOST", null);
  await close();
  const { spans, requests } = collector;
  expect(requests.map(({ path }) => path)).toEqual(["/v1/traces"]);
  expect(requests[0]?.headers["authorization"]).toBe("Bearer hush");
  expect(spans.map(({ name }) => name)).toEqual(["start", "queue", "prepare", "run"]);
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  const [first, ...below] = spans;
  expect(first?.parentSpanId).toBe(PARENT);
  for (const { parentSpanId } of below) expect(parentSpanId).toBe(first?.spanId);
  expect(handed).toEqual({ traceparent: `00-${TRACE}-${spans[3]?.spanId}-01`, tracestate: "acme=1" });
  for (const { startTimeUnixNano, endTimeUnixNano } of spans)
    expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
  expect(
    Object.fromEntries((spans[3]?.attributes ?? []).map(({ key, value }) => [key, value["stringValue"]])),
  ).toEqual({
    "platform.execution.id": id,
    "platform.version.id": "version",
    "platform.attempt": undefined,
    "platform.status": "FAILED",
    "platform.code": "EXECUTION_ERROR",
  });
  expect(spans.map(({ status }) => status.code ?? 0)).toEqual([0, 0, 0, 2]);
});

test("what the caller does not write is not written, and passed on all the same", async () => {
  collector = await startOtlpCollector();
  const { tracer, read, close } = await open();
  const unwritten = { traceparent: `00-${TRACE}-${PARENT}-00` };
  const start = tracer.start(unwritten, "version");
  start.end(null);
  expect(start.context?.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`, "u"));
  await close();
  expect([collector.spans, read("ended")]).toEqual([[], 0]);
});

test("the ratio decides about the traces that begin here", async () => {
  const { tracer } = await open({ ratio: 0 });
  expect(flagsOf(tracer.start(null, "version").context?.traceparent)).toBe("00");
  expect(flagsOf(tracer.start(GIVEN, "version").context?.traceparent)).toBe("01");
});

test("a flood of spans waits in a bounded queue; the rest is dropped", async () => {
  const sent = await startOtlpCollector();
  collector = sent;
  const { tracer, read } = await open();
  const total = 20_000;
  for (let count = 0; count < total; count++) tracer.start(GIVEN, "version").end("id");
  expect(read("ended")).toBe(total);
  await expect.poll(() => read("exported")).toBeGreaterThanOrEqual(4_096);
  // Whatever waits is sent before this one.
  tracer.start(GIVEN, "the last").end("id");
  await expect.poll(() => sent.requests.some(({ text }) => text.includes("the last"))).toBe(true);
  // The queue, and a batch that was on its way.
  expect(sent.spans.length).toBeLessThanOrEqual(4_096 + 512 + 1);
});

test("a collector that is away costs spans only", async () => {
  const { tracer, read } = await open();
  tracer.start(GIVEN, "version").end("id");
  // It is tried again for ten seconds.
  await expect.poll(() => read("failed")).toBe(1);
});

test("that spans are refused is said once", async () => {
  collector = await startOtlpCollector(400);
  const { tracer, read, logger } = await open();
  for (let count = 0; count < 2_000; count++) tracer.start(GIVEN, "version").end("id");
  await expect.poll(() => read("failed")).toBe(2_000);
  expect(collector.requests.length).toBeGreaterThan(1);
  expect(logger.entries.map(({ message }) => message)).toEqual([
    "traces could not be sent; executions are not affected",
  ]);
});

test("a collector that never answers holds up no stop", async () => {
  collector = await startOtlpCollector(null);
  const { tracer, close } = await open();
  for (let count = 0; count < 5_000; count++) tracer.start(GIVEN, "version").end("id");
  const began = readMonotonic();
  await close();
  // Twice two seconds would be a machine that is ten times slower; a request that is waited for takes ten.
  expect(readMonotonic() - began).toBeLessThan(9_000);
});
