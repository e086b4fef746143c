import { HOUR, MINUTE } from "@platform/engine/base/time";
import { expect, test } from "vitest";
import type { VersionName } from "../store/versions/name-versions.ts";
import { createExecutionMetrics } from "./execution-metrics.ts";
import { createExposition } from "./exposition.ts";

const LIMITS = { versions: 3, idleMs: 1 * HOUR };

function create() {
  let now = 0;
  const metrics = createExecutionMetrics(() => now, LIMITS);
  const names = new Map<string, VersionName>();
  const run = (versionId: string, code: string | null = null) => {
    names.set(versionId, { organization: "acme", service: versionId, version: "1.0.0" });
    metrics.observer.began(versionId, 250);
    const status = code === null ? "SUCCEEDED" : "FAILED";
    metrics.changed({ status, failure: code === null ? null : { code } });
    metrics.observer.ended({ versionId, status, code, ranMs: 1_500 });
  };
  const scrape = (): string => {
    const exposition = createExposition();
    metrics.collect(exposition, names);
    return exposition.toText();
  };
  return { metrics, names, run, scrape, pass: (milliseconds: number) => (now += milliseconds) };
}

/** The series of a metric: what stands for the service, and the value. */
function read(text: string, name: string): Readonly<Record<string, number>> {
  const found = text.matchAll(new RegExp(`^${name}\\{.*service="([^"]*)".*\\} (\\S+)$`, "gmu"));
  return Object.fromEntries([...found].map(([, service = "", value]) => [service, Number(value)]));
}

test("executions are counted by version, with how long they waited and ran", () => {
  const { run, scrape } = create();
  run("a");
  run("a", "EXECUTION_ERROR");
  const text = scrape();
  expect(read(text, "platform_executions_started_total")).toEqual({ a: 2 });
  expect(text).toContain('version="1.0.0",status="FAILED"} 1\n');
  expect(text).toContain('version="1.0.0",status="SUCCEEDED"} 1\n');
  expect(read(text, "platform_execution_wait_seconds_sum")).toEqual({ a: 0.5 });
  expect(read(text, "platform_execution_run_seconds_sum")).toEqual({ a: 3 });
  expect(text).toContain('platform_executions_failed_total{code="EXECUTION_ERROR"} 1\n');
});

test("ten thousand versions make no more series than there is room for, and lose no execution", () => {
  const { run, scrape } = create();
  for (let count = 0; count < 10_000; count++) run(`v${count}`);
  const started = read(scrape(), "platform_executions_started_total");
  expect(started).toEqual({ v0: 1, v1: 1, v2: 1, other: 9_997 });
});

test("codes that services choose make one series", () => {
  const { run, scrape } = create();
  for (let count = 0; count < 1_000; count++) run("a", `CODE_${count}`);
  run("a", "constructor");
  const text = scrape();
  expect(text).toContain('platform_executions_failed_total{code="OTHER"} 1001\n');
  expect(text.match(/platform_executions_failed_total\{/gu)?.length).toBeLessThan(30);
});

test("a version that has not run for an hour makes room for another", () => {
  const { run, scrape, pass } = create();
  for (const id of ["a", "b", "c"]) run(id);
  pass(59 * MINUTE);
  run("a");
  scrape();
  pass(2 * MINUTE);
  scrape();
  run("d");
  expect(read(scrape(), "platform_executions_started_total")).toEqual({ a: 2, d: 1 });
});

test("a version is shown once its name is known", () => {
  const { run, names, scrape } = create();
  run("a");
  names.clear();
  expect(read(scrape(), "platform_executions_started_total")).toEqual({});
});
