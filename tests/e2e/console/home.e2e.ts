import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, request } from "../../../tools/platform-client.ts";
import { goByKeys } from "./support/keyboard.ts";
import { callIn, inviteMember } from "./support/people.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";

const PROGRAM = `
def run(data, params):
    if params.get("fails"):
        raise ValueError("on purpose")
    return {}
`;
const HOUR_MS = 3_600_000;
const HOSTILE = `<img src=x onerror="document.title='run'"> tours`;

type Visit = Awaited<ReturnType<ConsoleWorld["visit"]>>;

let world: ConsoleWorld;
let organisation: { readonly slug: string; readonly name: string };
let failed: string;

beforeAll(async () => {
  world = await joinConsole();
  const me = await world.api<{ organization: typeof organisation }>("GET", "/me");
  organisation = me.body.organization;
  const { serviceKey } = await world.deploy(await world.createProject("city-tours", PROGRAM));
  await expectOk(world.api("POST", `/services/${serviceKey}/publish`, { scope: "marketplace" }));
  const title = { title: "Tours of cities" };
  await expectOk(world.api("PUT", `/services/${serviceKey}/listing`, title));
  await expectOk(world.api("POST", "/applications", { name: HOSTILE }));
  await expectOk(world.api("POST", "/data-pools", { name: "Maps of tours" }));
  const job = world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, {
    params: { fails: true },
  });
  failed = (await expectOk(job)).id;
});
afterAll(() => world?.close());

test("the checklist of an empty organisation leads to the first call, and ticks each step by itself", async () => {
  const { id, slug } = await world.createOrganisation("Beginning");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}`);
  const step = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  const ticked = (name: string) => step(name).getByLabel("Done").waitFor();
  const goHome = async () => {
    await page.locator("h1").click();
    await goByKeys(page, "h", "Beginning");
  };
  await page.getByText("0 of 6").waitFor();
  await step("Deploy a service").getByText("platform init --name my-solver").waitFor();

  const project = await world.createProject("first-steps", PROGRAM);
  expect((await world.cli(project, "compress", "--json")).code).toBe(0);
  const archive = await readFile(join(project, "first-steps.zip"));
  const { key } = await callIn<{ key: string }>(world, id, "POST", "/services", { name: "first-steps" });
  const uploaded = await request("POST", `${world.login.apiUrl}/api/services/${key}/versions`, {
    token: world.login.personalAccessToken,
    headers: { "x-organizationid": id, "content-type": "application/zip" },
    body: archive,
  });
  expect(uploaded.status).toBe(201);
  await ticked("Deploy a service");

  await step("Run it").getByRole("link", { name: "Try it" }).click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("Succeeded").first().waitFor();
  await goHome();
  await ticked("Run it");
  await step("Publish it").getByRole("link", { name: "Open first-steps" }).click();
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("menuitem", { name: "For this organisation" }).click();
  await page.getByText("Published.").waitFor();
  await goHome();
  await ticked("Publish it");

  await step("Create an application").getByRole("link", { name: "New application" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("nightly");
  await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "nightly" }).waitFor();
  await goHome();
  await ticked("Create an application");
  await step("Subscribe it to a service").getByRole("link", { name: "Subscribe it" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Subscribe" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await goHome();
  await ticked("Subscribe it to a service");
  await page.getByText("5 of 6").waitFor();
  await step("Make the first call").getByRole("link", { name: "Show how" }).waitFor();

  const { items } = await callIn<{ items: readonly { id: string }[] }>(world, id, "GET", "/subscriptions");
  await callIn(world, id, "POST", `/subscriptions/${items[0]?.id}/executions`, {});
  await page.getByText("All first steps are done.").waitFor();

  // A figure leads to what it counts.
  await page.getByRole("link", { name: /Succeeded$/u }).click();
  await page.getByRole("heading", { level: 1, name: "Executions" }).waitFor();
  expect(new URL(page.url()).searchParams.get("status")).toBe("SUCCEEDED");
  const rows = page.getByRole("table", { name: "Executions", exact: true }).locator("tbody tr");
  await expect.poll(() => rows.count()).toBeGreaterThan(0);
  expect(complaints).toEqual([]);
});

test(
  "a service is published for the first steps also where five newer ones are not",
  { tags: "full" },
  async () => {
    const { id, slug } = await world.createOrganisation("Many");
    const { key } = await callIn<{ key: string }>(world, id, "POST", "/services", { name: "oldest" });
    await callIn(world, id, "POST", `/services/${key}/publish`, { scope: "internal" });
    for (const name of ["a", "b", "c", "d", "e"])
      await callIn(world, id, "POST", "/services", { name: `newer-${name}` });
    const { page, open, complaints } = await world.visit();
    await open(`/o/${slug}`);
    await page.getByText("1 of 6").waitFor();
    await page.getByRole("listitem").filter({ hasText: "Publish it" }).getByLabel("Done").waitFor();
    expect(complaints).toEqual([]);
  },
);

test("a page that stays open goes on with its day", async () => {
  const { page, open } = await world.visit();
  await page.clock.install();
  await open(`/o/${organisation.slug}`);
  const figure = page.getByRole("link", { name: /Failed$/u });
  const since = async () => {
    const { searchParams } = new URL((await figure.getAttribute("href")) ?? "", world.login.apiUrl);
    return Date.parse(`${searchParams.get("after")?.replace(" ", "T")}Z`);
  };
  const first = await since();
  await page.clock.fastForward(2 * HOUR_MS);
  await expect.poll(since).toBeGreaterThanOrEqual(first + 2 * HOUR_MS);
});

test("a viewer sees who can take the first steps", async () => {
  const { id, slug } = await world.createOrganisation("Watching");
  const viewer = await inviteMember(world, id, "viewer");
  const { name } = (await world.api<{ name: string }>("GET", "/me")).body;
  const { page, open, complaints } = await world.visit({ as: viewer });
  await open(`/o/${slug}`);
  const step = page.getByRole("listitem").filter({ hasText: "Deploy a service" });
  await step.getByText(`This needs the role maintainer or owner: ${name}.`).waitFor();
  expect(await page.getByRole("main").getByRole("link", { name: "Upload a project" }).count()).toBe(0);
  expect(complaints).toEqual([]);
});

async function openPalette({ page, open }: Visit) {
  await open(`/o/${organisation.slug}/services`);
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Find a page" });
  await field.waitFor();
  await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
  const options = page.getByRole("listbox", { name: "Found" }).getByRole("option");
  return { field, options, names: () => options.allInnerTexts() };
}

/** The words of an option, in one line. */
const flat = (texts: readonly string[]) => texts.map((text) => text.replaceAll(/\s+/gu, " ").trim());

test("services, applications, data pools and entries of the marketplace are found by name, with few requests", async () => {
  const visit = await world.visit();
  await visit.page.clock.install();
  const { field, names } = await openPalette(visit);
  const asked: string[] = [];
  visit.page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (searchParams.get("q") !== null) asked.push(`${pathname}?q=${searchParams.get("q")}`);
  });
  // However slow the machine is, the letters come faster than the palette waits.
  await visit.page.clock.pauseAt(Date.now() + HOUR_MS);
  for (const letter of "tours") {
    await field.press(letter);
    await visit.page.clock.runFor(50);
  }
  await visit.page.clock.resume();
  await expect
    .poll(async () => flat(await names()).toSorted())
    .toEqual(
      [
        `${HOSTILE} Application`,
        "Maps of tours Data pool",
        `Tours of cities Marketplace, by ${organisation.name}`,
        "city-tours Service",
      ].toSorted(),
    );
  // One search of each kind for what stands there in the end, not for each letter.
  expect(asked.toSorted()).toEqual(
    ["applications", "data-pools", "marketplace", "services"].map((name) => `/api/${name}?q=tours`),
  );
  expect(await visit.page.locator("img").count()).toBe(0);
  expect(await visit.page.title()).not.toBe("run");
  expect(visit.complaints).toEqual([]);
});

test("by keys alone: the field says which option is the current one, and Enter opens it", async () => {
  const visit = await world.visit();
  const { page } = visit;
  await page.clock.install();
  const { field, options } = await openPalette(visit);
  await field.fill("maps of");
  await page.getByRole("status").getByText("1 found").waitFor();
  // What was found for an earlier text is not chosen.
  await page.clock.pauseAt(Date.now() + HOUR_MS);
  await field.fill("nobody has this name");
  await field.press("Enter");
  await page.clock.resume();
  await page.getByRole("status").getByText("Nothing is found.").waitFor();
  expect(new URL(page.url()).pathname).toBe(`/o/${organisation.slug}/services`);
  await field.fill("maps of");
  await page.getByRole("status").getByText("1 found").waitFor();
  const current = async () => {
    const id = (await field.getAttribute("aria-activedescendant")) ?? "";
    return await page.locator(`[id="${id}"]`).innerText();
  };
  expect(await current()).toContain("Maps of tours");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Maps of tours" }).waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("H1");

  await page.keyboard.press("Control+k");
  expect(await field.inputValue()).toBe("");
  await field.press("ArrowDown");
  await expect.poll(() => options.nth(1).getAttribute("aria-selected")).toBe("true");
  await field.press("ArrowUp");
  await field.press("ArrowUp");
  await expect.poll(() => options.last().getAttribute("aria-selected")).toBe("true");
  await field.press("Escape");
  await field.waitFor({ state: "detached" });
  expect(visit.complaints).toEqual([]);
});

test("an identifier opens its execution, and a code lists the executions that ended with it", async () => {
  const visit = await world.visit();
  const { page } = visit;
  const { field } = await openPalette(visit);
  await field.fill(failed);
  await page.getByRole("option", { name: `Open execution ${failed}` }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("EXECUTION_ERROR").first().waitFor();
  expect(new URL(page.url()).pathname).toBe(`/o/${organisation.slug}/executions/${failed}`);

  for (const query of ["execution err", "NO_ROUTE"]) {
    await page.keyboard.press("Control+k");
    await field.fill(query);
    const code = query === "NO_ROUTE" ? query : "EXECUTION_ERROR";
    await page.getByRole("option", { name: code }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get("code")).toBe(code);
  }
  await page.getByText("No execution matches").waitFor();
  expect(visit.complaints).toEqual([]);
});

test("an action opens its form", async () => {
  const visit = await world.visit();
  const { field } = await openPalette(visit);
  await field.fill("new appl");
  await visit.page.keyboard.press("Enter");
  await visit.page.getByRole("dialog", { name: "New application" }).getByLabel("Name").waitFor();
  expect(visit.complaints).toEqual([]);
});
