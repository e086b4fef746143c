import { expect, test } from "vitest";
import type { QuantumJob } from "@platform/contract/quantum-api/jobs";
import { toSameRequest } from "./same-request.ts";

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

test("the same job is asked for with the input digit by digit, and with nothing that was not sent", () => {
  const text = toSameRequest(JOB, '{"n":0.10000000000000000001}');
  expect(text).toContain('"input":{"n":0.10000000000000000001}}');
  expect(JSON.parse(text)).toEqual({
    backend_id: "sim.echo",
    input_format: "OPEN_QASM_V3",
    input_params: { seed: 7 },
    name: 'a "name"',
    tags: ["a"],
    sdk_provider: "CONSOLE",
    input: { n: 0.1 },
  });
  expect(JSON.parse(toSameRequest({ ...JOB, shots: 5 }, '"OPENQASM 3.0;"'))).toMatchObject({
    shots: 5,
    input: "OPENQASM 3.0;",
  });
});
