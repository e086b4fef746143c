import { readFile } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { REPOSITORY, findFreePort } from "../../tools/platform-process.ts";
import { startOtlpCollector } from "../support/otlp-collector.ts";
import type { OtlpCollector } from "../support/otlp-collector.ts";
import { readExpressions, readExposition } from "../support/prometheus.ts";
import type { Series } from "../support/prometheus.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const PROGRAM = `import os

def run(data):
    if data.get("fail"):
        raise ValueError("as asked")
    return {"traceparent": os.environ.get("TRACEPARENT"), "tracestate": os.environ.get("TRACESTATE")}
`;
/** Labels that Prometheus adds to what it scrapes. */
const ADDED = ["job", "instance"];

let world: World;
let collector: OtlpCollector;
let metricsUrl: string;

beforeAll(async () => {
  const port = await findFreePort();
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  collector = await startOtlpCollector();
  world = await createWorld({
    flags: ["--metrics-port", String(port)],
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
});

afterAll(async () => {
  await world.close();
  await collector.close();
});

async function scrape(): Promise<readonly Series[]> {
  const answer = await fetch(metricsUrl);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  return readExposition(await answer.text());
}

function askAs(host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(metricsUrl, { headers: { host } }, (answer) => resolve(answer.resume().statusCode)).on(
      "error",
      reject,
    );
  });
}

test("metrics are not for web pages whose host name leads here", async () => {
  expect(await Promise.all(["rebound.example", "localhost:9464", "127.0.0.1"].map(askAs))).toEqual([
    403, 200, 200,
  ]);
});

test("metrics count what was called and run, and have all that the dashboard and the alert rules ask for", async () => {
  expect(world.platform.readLog()).toContain(`"metrics":"${metricsUrl}"`);
  const { serviceKey } = await world.deploy(await world.createProject("counted", PROGRAM));
  const consumer = await world.subscribe(serviceKey);
  for (const fail of [false, false, true]) {
    const { id } = (await consumer.start({ data: { fail } })).body;
    await consumer.finish(id);
  }
  await consumer.call("GET", "not-a-uuid");
  // One alone, and two of a batch: what never began is counted by whoever has cancelled it.
  const later = { data: {}, startAt: new Date(Date.now() + 3_600_000).toISOString() };
  const { id: alone } = (await consumer.start(later)).body;
  const json = { items: [later, later] };
  const { id: batch } = (await consumer.call<{ readonly id: string }>("POST", "batch", { json })).body;
  for (const path of [alone, `batch/${batch}`]) await consumer.call("PUT", `${path}/cancel`);
  const find = async (name: string, labels: Readonly<Record<string, string>>) =>
    (await scrape())
      .filter(
        (one) =>
          one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
      )
      .map(({ value }) => value);
  const version = { service: "counted", version: "1.0.0" };
  const ended = (status: string) => find("platform_executions_ended_total", { ...version, status });
  await expect.poll(() => ended("SUCCEEDED")).toEqual([2]);
  await expect.poll(() => ended("FAILED")).toEqual([1]);
  expect(await find("platform_executions_failed_total", { code: "EXECUTION_ERROR" })).toEqual([1]);
  expect(await find("platform_executions_failed_total", { code: "CANCELLED" })).toEqual([3]);
  expect(await find("platform_execution_run_seconds_count", version)).toEqual([3]);
  const requests = (operation: string, status: string) =>
    find("platform_http_request_duration_seconds_count", { api: "gateway", operation, status });
  expect(await requests("startExecution", "2xx")).toEqual([4]);
  expect(await requests("getState", "4xx")).toEqual([1]);
  expect(await find("platform_queue_executions", { reason: "QUEUE" })).toEqual([0]);
  expect(await find("platform_workers", {})).toEqual([1]);

  const series = await scrape();
  for (const file of ["platform.json", "alerts.yaml"]) {
    const expressions = readExpressions(await readFile(join(REPOSITORY, "docs/grafana", file), "utf8"));
    expect(expressions.length).toBeGreaterThan(10);
    expect(expressions.flatMap((one) => findFaults(one, series))).toEqual([]);
  }
});

test("an execution stands in its caller's trace, and user code below it; a malformed context is no error", async () => {
  const { serviceKey } = await world.deploy(await world.createProject("traced", PROGRAM));
  const consumer = await world.subscribe(serviceKey);
  const trace = "0af7651916cd43dd8448eb211c80319c";
  const traceparent = `00-${trace}-b7ad6b7169203331-01`;
  const run = async (headers: Readonly<Record<string, string>>) => {
    const json = { data: { word: "a word that nobody else has" } };
    const { body } = await consumer.call<{ readonly id: string }>("POST", "", { json, headers });
    await consumer.finish(body.id);
    const answer = await consumer.call<{ readonly result: Readonly<Record<string, string | null>> }>(
      "GET",
      `${body.id}/result`,
    );
    return answer.body.result;
  };
  const ofTrace = () => collector.spans.filter(({ traceId }) => traceId === trace);
  const result = await run({ traceparent, tracestate: "acme=1" });
  await expect
    .poll(() =>
      ofTrace()
        .map(({ name }) => name)
        .toSorted((left, right) => left.localeCompare(right)),
    )
    .toEqual(["prepare", "queue", "run", "start"]);
  const spanId = ofTrace().find(({ name }) => name === "run")?.spanId;
  expect(result).toEqual({ traceparent: `00-${trace}-${spanId}-01`, tracestate: "acme=1" });
  const other = await run({ traceparent: `${traceparent}-nonsense`, tracestate: "acme=1" });
  expect(other["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/u);
  expect(other["traceparent"]).not.toContain(trace);
  expect(other["tracestate"]).toBeNull();
  // Nothing of what was sent but ids, and no token.
  const sent = collector.requests.map(({ text }) => text).join("\n");
  for (const secret of ["a word that nobody else has", consumer.token]) expect(sent).not.toContain(secret);
});

test("metrics are on their own port only, and nothing else is there", async () => {
  for (const url of [world.platform.gatewayUrl, world.platform.apiUrl])
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
  expect((await fetch(metricsUrl, { method: "POST", body: "{}" })).status).toBe(405);
  expect((await fetch(new URL("/api/me", metricsUrl))).status).toBe(404);
});

/** What an expression asks for that no scrape has. */
function findFaults(
  expression: ReturnType<typeof readExpressions>[number],
  series: readonly Series[],
): readonly string[] {
  const { text, selectors, labels } = expression;
  const known = new Set(ADDED);
  const faults: string[] = [];
  for (const { name, matchers } of selectors) {
    if (name === "up") continue;
    const found = series.filter((one) => one.name === name);
    if (found.length === 0) faults.push(`${name} is nowhere: ${text}`);
    for (const { labels: own } of found) for (const label of Object.keys(own)) known.add(label);
    for (const label of Object.keys(matchers))
      if (!ADDED.includes(label) && !found.some((one) => label in one.labels))
        faults.push(`${name} has no label ${label}: ${text}`);
  }
  return [...faults, ...labels.filter((label) => !known.has(label)).map((label) => `no ${label}: ${text}`)];
}
