import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const EXAMPLE = join(import.meta.dirname, "../../examples/tsp");
const PROBLEM = readFileSync(join(EXAMPLE, "input/berlin52.tsp"), "utf8");

const folder = mkdtempSync(join(tmpdir(), "tsplib-"));
afterAll(() => rmSync(folder, { recursive: true }));

function convert(problem: string) {
  const file = join(folder, "problem.tsp");
  writeFileSync(file, problem);
  const { status, stdout, stderr } = spawnSync("python3", [join(EXAMPLE, "tsplib.py"), file], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("berlin52 of TSPLIB becomes the sample input of the example", () => {
  const { status, stdout } = convert(PROBLEM);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toEqual(JSON.parse(readFileSync(join(EXAMPLE, "input/data.json"), "utf8")));
});

test.each([
  ["has other distances", PROBLEM.replace("EUC_2D", "GEO"), "EDGE_WEIGHT_TYPE EUC_2D"],
  ["lacks a city", PROBLEM.replace(/^7 .*\n/mu, ""), "its DIMENSION is 52, and it has 51 cities"],
  ["has a city without a place", PROBLEM.replace(/^7 .*$/mu, "7 25.0"), "'7 25.0' is no number with two"],
  ["is empty", "", "it has no NODE_COORD_SECTION"],
])("a problem that %s is refused, with the reason", (_what, problem, reason) => {
  const { status, stdout, stderr } = convert(problem);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(reason);
});
