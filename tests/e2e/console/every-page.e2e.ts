import { afterAll, beforeAll, expect, test } from "vitest";
import { fillLaboratory } from "./support/laboratory.ts";
import type { Laboratory } from "./support/laboratory.ts";
import { openConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { listRoutes, listStops } from "./support/routes.ts";
import { watchShifts } from "./support/settled.ts";
import { Walker } from "./support/walk.ts";
import type { Findings } from "./support/walk.ts";

/** Tabs that are looked at at one time: while one waits for the platform, another one is judged. */
const TABS = 3;
/** The walk is that many stories, so that none of them takes long. */
const PARTS = [0, 1, 2, 3, 4, 5] as const;

let world: ConsoleWorld;
let lab: Laboratory;
const findings: Findings = { barriers: [], cut: [], lost: [], shifted: [] };
const complaints: string[] = [];
const seen = new Map<string, number>();
beforeAll(async () => {
  world = await openConsole();
  lab = await fillLaboratory(world);
});
afterAll(() => world?.close());

test.each(PARTS)("part %i of all routes is opened, with each tab, dialog and menu", async (part) => {
  const signedIn = await world.visit();
  const stranger = await world.visit({ as: null });
  await signedIn.open(`/o/${lab.provider}`);
  const routes = await listRoutes(signedIn.page);
  expect(routes.length).toBeGreaterThan(20);
  for (const visit of [signedIn, stranger]) {
    await watchShifts(visit.context);
    const stops = listStops(routes, lab, visit === signedIn).filter(
      (_, index) => index % PARTS.length === part,
    );
    const walk = async () => {
      const walker = new Walker(await visit.openTab(), findings, seen);
      for (let stop = stops.shift(); stop !== undefined; stop = stops.shift()) await walker.visit(stop);
    };
    await Promise.all(Array.from({ length: Math.min(TABS, stops.length) }, walk));
    complaints.push(...visit.complaints);
    await visit.context.close();
  }
});

test("the header opens its menus, the palette, the list of keys, and on a narrow screen the drawer", async () => {
  const visit = await world.visit();
  await new Walker(visit.page, findings, seen).lookAtShell(`/o/${lab.provider}`);
  expect(visit.complaints).toEqual([]);
  await visit.context.close();
});

test("all of it passes axe in both schemes and at both widths, empty and filled", () => {
  expect(findings.barriers).toEqual([]);
});

test("no page scrolls sideways, and no heading, button, link or badge is cut, at 1280, 375 and 320 px", () => {
  expect(findings.cut).toEqual([]);
});

test("at 400 % every button, link and field is still there", () => {
  expect(findings.lost).toEqual([]);
});

test("no page moves by itself while it is loading", () => {
  expect(findings.shifted).toEqual([]);
});

test("no page logs an error, violates the policy, or asks another host", () => {
  const expected = [
    // The page of a build that has failed asks whether it became a version.
    `/services/${lab.failedServiceKey}/versions/1.0.0`,
    // The page of a link asks what it is for.
    "/api/invitations/no-such-invitation",
  ];
  expect(complaints.filter((text) => !expected.some((part) => text.includes(part)))).toEqual([]);
});
