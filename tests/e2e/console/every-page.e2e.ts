import { afterAll, beforeAll, expect, test } from "vitest";
import { fillLaboratory } from "./support/laboratory.ts";
import type { Laboratory } from "./support/laboratory.ts";
import { openConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { walkConsole } from "./support/walk.ts";
import type { Findings } from "./support/walk.ts";

let world: ConsoleWorld;
let lab: Laboratory;
/** Of the walk, which the first story makes. */
let findings: Findings;
beforeAll(async () => {
  world = await openConsole();
  lab = await fillLaboratory(world);
});
afterAll(() => world?.close());

test("every route of the router is opened, and each of its tabs, dialogs and menus", async () => {
  findings = await walkConsole(world, lab);
  expect(findings.patterns).toContain("/o/$org/executions/$id");
  expect(findings.patterns.length).toBeGreaterThan(20);
});

test("each of them passes axe in both schemes and at both widths, empty and filled", () => {
  expect(findings.barriers).toEqual([]);
});

test("no page scrolls sideways, and no heading, button, link or badge is cut, at 1280, 375 and 320 px", () => {
  expect(findings.cut).toEqual([]);
});

test("at 400 % every button, link and field of a page is still there", () => {
  expect(findings.lost).toEqual([]);
});

test("no page moves by itself while it is loading", () => {
  expect(findings.shifted).toEqual([]);
});

test("no page logs an error, violates the policy, or asks another host", () => {
  expect(findings.complaints).toEqual([]);
});
