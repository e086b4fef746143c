import { expect, test } from "vitest";
import type { QuantumJob } from "@platform/contract/quantum-api/jobs";
import { hasOptions, readOptions, toSameRequest } from "./same-request.ts";

const JOB: QuantumJob = {
  id: "0198c1de-7a53-7000-8000-000000000000",
  backend_id: "sim.echo",
  backend_version: "1.0.0",
  provider: "PLATFORM",
  status: "COMPLETED",
  name: 'a "name"',
  tags: ["a"],
  input_format: "OPEN_QASM_V3",
  input_params: { seed: 7 },
  shots: null,
  sdk_provider: "platform-quantum",
  session_id: null,
  service_execution_id: null,
  dry_run: false,
  max_cost: null,
  cache: false,
  cost: null,
  currency: null,
  digest: null,
  cached_from: null,
  created_at: "2026-11-28 10:00:00",
  started_at: null,
  ended_at: null,
  usage_time_millis: null,
  queue_position: null,
  error: null,
  log_url: "/quantum/jobs/0198c1de-7a53-7000-8000-000000000000/log",
};
const OPTIONS = '{"seed": 9007199254740993}';

test("the same job is asked for with input and options digit by digit, and with nothing that was not sent", () => {
  const text = toSameRequest(JOB, { input: '{"n":0.10000000000000000001}', options: OPTIONS });
  expect(text).toContain(`"input_params":${OPTIONS},"input":{"n":0.10000000000000000001}}`);
  expect(Object.keys(JSON.parse(text) as object)).toEqual([
    "backend_id",
    "input_format",
    "name",
    "tags",
    "sdk_provider",
    "input_params",
    "input",
  ]);
});

test("its shots, its session, what it may cost and whether an earlier job may answer it are asked for again", () => {
  const sent = { shots: 5, dry_run: true, cache: true, max_cost: "0.25", session_id: "a session" };
  const texts = { input: '"OPENQASM 3.0;"', options: "{}" };
  const job = { ...JOB, ...sent };
  expect(JSON.parse(toSameRequest(job, texts))).toMatchObject({ ...sent, input: "OPENQASM 3.0;" });
  expect(JSON.parse(toSameRequest(job, texts, true))).not.toHaveProperty("session_id");
});

test.each<readonly [string, Partial<QuantumJob>, string]>([
  [OPTIONS, {}, OPTIONS],
  ['{"seed": 9007199254740993,"shots":10}', { shots: 10 }, OPTIONS],
  ['{"seed": 9007199254740993,"shots":10,"dry_run":true}', { shots: 10, dry_run: true }, OPTIONS],
  ['{"shots":10}', { shots: 10 }, "{}"],
  ['{"shots":10}', {}, '{"shots":10}'],
  ['{"a":[1e400,{"b":"}"}],"dry_run":true}', { dry_run: true }, '{"a":[1e400,{"b":"}"}]}'],
])("of %s the options are what was sent", (params, job, options) => {
  const sent = `{"data":{"format":"X","params":{"not":"these"}},"params":${params}}`;
  expect(readOptions(sent, { ...JOB, ...job })).toBe(options);
});

test("a job without options has none to be read", () => {
  expect([hasOptions(JOB), hasOptions({ input_params: {} })]).toEqual([true, false]);
});
