import { expect, test } from "vitest";
import { createExposition } from "./exposition.ts";
import { createHistogram } from "./histogram.ts";

const VERSION = { organization: "acme", version: "1.0.0" };

test("a family stands together, with its meaning and type first", () => {
  const exposition = createExposition();
  exposition.add("platform_builds", { status: "PENDING" }, 1);
  exposition.add("platform_zygotes", {}, 2.5);
  exposition.add("platform_builds", { status: "RUNNING" }, 0);
  expect(exposition.toText()).toBe(
    [
      "# HELP platform_builds Builds that have not ended, of the whole platform",
      "# TYPE platform_builds gauge",
      'platform_builds{status="PENDING"} 1',
      'platform_builds{status="RUNNING"} 0',
      "# HELP platform_zygotes Warm processes of versions",
      "# TYPE platform_zygotes gauge",
      "platform_zygotes 2.5",
      "",
    ].join("\n"),
  );
});

test("the buckets of a histogram count what is up to their bound, which belongs to them", () => {
  const histogram = createHistogram([1, 5]);
  for (const value of [0, 1, 1.5, 5, 6]) histogram.observe(value);
  const exposition = createExposition();
  exposition.addHistogram("platform_build_duration_seconds", { status: "FAILED" }, histogram);
  expect(exposition.toText().split("\n").slice(2)).toEqual([
    'platform_build_duration_seconds_bucket{status="FAILED",le="1"} 2',
    'platform_build_duration_seconds_bucket{status="FAILED",le="5"} 4',
    'platform_build_duration_seconds_bucket{status="FAILED",le="+Inf"} 5',
    'platform_build_duration_seconds_sum{status="FAILED"} 13.5',
    'platform_build_duration_seconds_count{status="FAILED"} 5',
    "",
  ]);
});

test("a value ends neither itself nor its line", () => {
  const exposition = createExposition();
  const service = 'a"} 9\nplatform_workers 7\n#\\';
  exposition.add("platform_executions_started_total", { ...VERSION, service }, 1);
  expect(exposition.toText().split("\n").slice(2)).toEqual([
    String.raw`platform_executions_started_total{organization="acme",version="1.0.0",service="a\"} 9\nplatform_workers 7\n#\\"} 1`,
    "",
  ]);
});
