import { afterAll, beforeAll, expect, test } from "vitest";
import { fillLaboratory } from "./support/laboratory.ts";
import type { Laboratory } from "./support/laboratory.ts";
import { openConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { listRoutes, listStops } from "./support/routes.ts";
import { watchShifts } from "./support/settled.ts";
import { Walker } from "./support/walk.ts";
import type { Findings, Stop } from "./support/walk.ts";

/** Windows at one time: while one waits for the platform, another one is judged. */
const WINDOWS = 3;
/** For all routes together, on half a core. */
const LIMIT = { timeout: 1_200_000 };

let world: ConsoleWorld;
let lab: Laboratory;
const findings: Findings = { barriers: [], cut: [], lost: [], shifted: [], leading: [] };
const complaints: string[] = [];
const seen = new Map<string, number>();
beforeAll(async () => {
  world = await openConsole();
  lab = await fillLaboratory(world);
});
afterAll(() => world?.close());

let walked: Promise<void> | undefined;

/** Looks at everything, once: a story that is run alone needs what was found as well. */
function walk(): Promise<void> {
  walked ??= walkEverything();
  return walked;
}

async function walkEverything(): Promise<void> {
  const visit = await world.visit();
  await visit.open(`/o/${lab.provider}`);
  const routes = await listRoutes(visit.page);
  await visit.context.close();
  expect(routes.length).toBeGreaterThan(20);
  const stops = listStops(routes, lab, true);
  await Promise.all([
    ...Array.from({ length: WINDOWS }, () => withWalker({}, (walker) => visitAll(walker, stops))),
    withWalker({ as: null }, (walker) => visitAll(walker, listStops(routes, lab, false))),
  ]);
  await withWalker({}, (walker) => walker.lookAtShell(`/o/${lab.provider}`));
}

/** Takes stops until there are none left. */
async function visitAll(walker: Walker, stops: Stop[]): Promise<void> {
  for (let stop = stops.shift(); stop !== undefined; stop = stops.shift()) await walker.visit(stop);
}

/** @param options as null: nobody is signed in */
async function withWalker(
  options: { readonly as?: null },
  use: (walker: Walker) => Promise<void>,
): Promise<void> {
  const visit = await world.visit(options);
  await watchShifts(visit.context);
  await use(new Walker(visit.page, findings, seen));
  complaints.push(...visit.complaints);
  await visit.context.close();
}

test(
  "every route is opened, with each tab, dialog and menu, and those of the header; what leads on to another page is known",
  LIMIT,
  async () => {
    await walk();
    const first = `/o/${lab.provider}`;
    const execution = lab.succeeded;
    expect(findings.leading.toSorted()).toEqual([
      `/ leads to ${first}`,
      `/executions/${execution} leads to ${first}/executions/${execution}`,
      `/jobs/${execution} leads to ${first}/executions/${execution}`,
      "/sign-in/callback leads to /sign-in",
    ]);
  },
);

test("all of it passes axe in both schemes and at both widths, empty and filled", LIMIT, async () => {
  await walk();
  expect(findings.barriers).toEqual([]);
});

test(
  "no page scrolls sideways, and no heading, button, link or badge is cut, at 1280, 375 and 320 px",
  LIMIT,
  async () => {
    await walk();
    expect(findings.cut).toEqual([]);
  },
);

test("at 400 % every button, link and field is still there", LIMIT, async () => {
  await walk();
  expect(findings.lost).toEqual([]);
});

test("no page moves by itself while it is loading", LIMIT, async () => {
  await walk();
  expect(findings.shifted).toEqual([]);
});

test("no page logs an error, violates the policy, or asks another host", LIMIT, async () => {
  await walk();
  const expected = [
    // The page of a build that has failed asks whether it became a version.
    `/services/${lab.failedServiceKey}/versions/1.0.0`,
    // The page of a link asks what it is for.
    "/api/invitations/no-such-invitation",
  ];
  expect(complaints.filter((text) => !expected.some((part) => text.includes(part)))).toEqual([]);
});
