import { expect, test } from "vitest";
import { buildJobBody } from "./job-body.ts";
import type { JobOptions } from "./job-body.ts";

const CIRCUIT = { format: "DIMOD_BQM", inputText: '{"bqm":{"bias":12345678901234567890}}' } as const;
const build = (options: Partial<JobOptions> = {}) =>
  buildJobBody("sim.annealing", CIRCUIT, { dryRun: false, cache: false, ...options }).json;

test("a body has what was chosen, and nothing else", () => {
  expect(Object.keys(JSON.parse(build()) as object).toSorted()).toEqual([
    "backend_id",
    "input",
    "input_format",
    "input_params",
    "sdk_provider",
  ]);
  expect(JSON.parse(build({ tags: "a, b", shots: 5, dryRun: true, session: "s" }))).toMatchObject({
    tags: ["a", "b"],
    shots: 5,
    dry_run: true,
    session_id: "s",
  });
});

test("JSON is sent as it was given, with the seed among its options", () => {
  expect(build({ params: ' {"a": 1e-400} ' })).toContain('"input_params":{"a": 1e-400}');
  expect(build({ params: '{"a": 0.10000000000000000001 }', seed: 7 })).toContain(
    '"input_params":{"a": 0.10000000000000000001 ,"seed":7}',
  );
  expect(build({ params: "{ }", seed: 7 })).toContain('"input_params":{ "seed":7}');
  expect(build()).toContain(`"input":${CIRCUIT.inputText}`);
});

test("an earlier job answers only where there is a seed", () => {
  expect(() => build({ cache: true })).toThrow("--seed");
  expect(() => build({ cache: true, params: '{"seed": null}' })).toThrow("--seed");
  expect(JSON.parse(build({ cache: true, params: '{"seed": 0}' }))).toMatchObject({ cache: true });
  expect(JSON.parse(build({ cache: true, seed: 0 }))).toMatchObject({ input_params: { seed: 0 } });
});

test.each(["", "{", "[]", "null", '"a"', "1"])("options %j are refused", (params) => {
  expect(() => build({ params })).toThrow("--params");
});
