import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "../../../tools/platform-client.ts";
import { findBarriers, findCutText } from "./support/axe.ts";
import { WIDTHS, openConsole } from "./support/open-console.ts";
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
  world = await openConsole();
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
  await field.pressSequentially("tours");
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
  const { field, options } = await openPalette(visit);
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
  await page.keyboard.press("ArrowDown");
  expect(await options.nth(1).getAttribute("aria-selected")).toBe("true");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  expect(await options.last().getAttribute("aria-selected")).toBe("true");
  await page.keyboard.press("Escape");
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

test("the palette passes axe, and nothing of it is cut, in both schemes and at both widths", async () => {
  const found: string[] = [];
  for (const scheme of ["light", "dark"] as const)
    for (const width of Object.values(WIDTHS)) {
      const visit = await world.visit({ scheme, width });
      const { field } = await openPalette(visit);
      found.push(...(await findBarriers(visit.page)), ...(await findCutText(visit.page)));
      await field.fill("tours");
      await visit.page.getByRole("option", { name: "city-tours" }).waitFor();
      found.push(...(await findBarriers(visit.page)), ...(await findCutText(visit.page)));
      await visit.context.close();
    }
  expect(found).toEqual([]);
});
