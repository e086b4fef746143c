import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { REPOSITORY, findFreePort } from "../../tools/platform-process.ts";
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
let metricsUrl: string;

beforeAll(async () => {
  const port = await findFreePort();
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  world = await createWorld({ flags: ["--metrics-port", String(port)] });
});

afterAll(() => world.close());

async function scrape(): Promise<readonly Series[]> {
  const answer = await fetch(metricsUrl);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  return readExposition(await answer.text());
}

test("metrics count what was called and run, and have all that the dashboard and the alert rules ask for", async () => {
  expect(world.platform.readLog()).toContain(`"metrics":"${metricsUrl}"`);
  const { serviceKey } = await world.deploy(await world.createProject("counted", PROGRAM));
  const consumer = await world.subscribe(serviceKey);
  for (const fail of [false, false, true]) {
    const { id } = (await consumer.start({ data: { fail } })).body;
    await consumer.finish(id);
  }
  await consumer.call("GET", "not-a-uuid");
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
  expect(await find("platform_execution_run_seconds_count", version)).toEqual([3]);
  const requests = (operation: string, status: string) =>
    find("platform_http_request_duration_seconds_count", { api: "gateway", operation, status });
  expect(await requests("startExecution", "2xx")).toEqual([3]);
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

test("the context of a caller's trace reaches user code; a malformed one is no error", async () => {
  const { serviceKey } = await world.deploy(await world.createProject("traced", PROGRAM));
  const consumer = await world.subscribe(serviceKey);
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const run = async (headers: Readonly<Record<string, string>>) => {
    const { body } = await consumer.call<{ readonly id: string }>("POST", "", { json: {}, headers });
    await consumer.finish(body.id);
    return (await consumer.call("GET", `${body.id}/result`)).body;
  };
  expect(await run({ traceparent, tracestate: "acme=1" })).toMatchObject({
    result: { traceparent, tracestate: "acme=1" },
  });
  expect(await run({ traceparent: `${traceparent}-nonsense` })).toMatchObject({
    result: { traceparent: null, tracestate: null },
  });
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
