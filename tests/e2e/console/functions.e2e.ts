import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Download, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { expectOk } from "../../../tools/platform-client.ts";
import { runOk } from "../../clients/tools.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { callIn } from "./support/people.ts";

const PROGRAM = `
import logging, os


def run(data, params):
    with open(os.path.join(os.environ["OUTPUT_DIRECTORY"], "Köln 1.csv"), "w") as file:
        file.write("a;b")
    # By one way: what is printed comes by another one, and may be there later.
    logging.getLogger().setLevel(logging.INFO)
    logging.info("plain " + "words " * 100)
    logging.warning("odd")
    logging.error("bad")
    return {"n": params["n"], "a/b": [{"x": 1}]}
`;
/** What no page of the provider may show of it. */
const SECRET = 471_147_114_711;

const PATIENCE = { timeout: 60_000, interval: 60 };

let world: ConsoleWorld;
let slug: string;
let serviceKey: string;
/** Ids of jobs, of which the second one differs by its number. */
let first: string;
let second: string;

beforeAll(async () => {
  world = await joinConsole();
  slug = (await world.api<{ organization: { slug: string } }>("GET", "/me")).body.organization.slug;
  ({ serviceKey } = await world.deploy(await world.createProject("working", PROGRAM)));
  const start = async (n: number) =>
    (await expectOk(world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, { params: { n } })))
      .id;
  [first, second] = [await start(1), await start(2)];
  await awaitEnd(first);
  await awaitEnd(second);
});
afterAll(() => world?.close());

interface Ended {
  readonly status: string;
  readonly createdAt: string;
}

const readExecution = async (id: string) => (await world.api<Ended>("GET", `/executions/${id}`)).body;

async function awaitEnd(id: string): Promise<void> {
  await vi.waitFor(async () => expect((await readExecution(id)).status).toBe("SUCCEEDED"), PATIENCE);
}

/** What is saved when a button is pressed. */
async function save(page: Page, name: string): Promise<Download> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name, exact: true }).click(),
  ]);
  return download;
}

const readSaved = async (download: Download) => readFile(await download.path(), "utf8");

test("the files of a result are listed with their sizes, and saved under their names", async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/executions/${first}`);
  await page.getByRole("tab", { name: "Files (1)" }).click();
  const cells = page.getByRole("table", { name: "Files of the result" }).locator("tbody td");
  await expect.poll(() => cells.allTextContents()).toEqual(["Köln 1.csv", "3 B", "Download"]);
  const file = await save(page, "Download");
  expect(file.suggestedFilename()).toBe("Köln 1.csv");
  expect(await readSaved(file)).toBe("a;b");
  expect(complaints).toEqual([]);
});

test("a log is shown from a severity on, with its lines wrapped, and saved as a whole", async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/executions/${first}?tab=log`);
  const log = page.getByRole("log", { name: "Log" });
  const messages = () =>
    log.locator(".log-line").evaluateAll((all) => all.map(({ textContent }) => textContent.slice(20).trim()));
  const isWiderThanItsPlace = () => log.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
  const all = [`INFO plain ${"words ".repeat(100).trim()}`, "WARNING odd", "ERROR bad"];
  await expect.poll(messages).toEqual(all);
  expect(await isWiderThanItsPlace()).toBe(true);
  await page.getByRole("switch", { name: "Wrap lines" }).check();
  await expect.poll(isWiderThanItsPlace).toBe(false);
  for (const [severity, shown] of [
    ["WARNING", all.slice(1)],
    ["ERROR", all.slice(2)],
    ["CRITICAL", []],
  ] as const) {
    await page.getByLabel("Severity").selectOption(severity);
    await expect.poll(messages).toEqual(shown);
  }
  const file = await save(page, "Download");
  expect(file.suggestedFilename()).toBe(`${first}.log`);
  const lines = (await readSaved(file)).trimEnd().split("\n");
  expect(lines.map((line) => line.slice(20).trim())).toEqual(all);
  expect(complaints).toEqual([]);
});

test("the executions that a filter matches are saved as a table", async () => {
  const { page, open, complaints } = await world.visit();
  const saveRows = async (search: string) => {
    await open(`/o/${slug}/executions${search}`);
    return (await readSaved(await save(page, "Save as CSV"))).trimEnd().split("\r\n");
  };
  const [names = "", ...rows] = await saveRows("?kind=job");
  expect(names).toMatch(/^id,kind,status,code,service,version,started_by,created_at,/u);
  const { createdAt } = await readExecution(second);
  expect(rows.map((row) => row.split(",")[0])).toEqual([second, first]);
  expect(rows[0]).toContain(`${second},job,SUCCEEDED,,working,1.0.0,A member,${createdAt},`);
  expect(await saveRows("?status=FAILED")).toEqual([names]);
  expect(complaints).toEqual([]);
});

test("a part of the histogram that is drawn over becomes the filter", async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/executions?kind=job`);
  const bars = page.getByRole("img", { name: /^2 executions created/u });
  const rows = page.getByRole("table", { name: "Executions", exact: true }).locator("tbody tr");
  const draw = async (from: number, to: number) => {
    await bars.waitFor();
    const { x = 0, y = 0, width = 0 } = (await bars.boundingBox()) ?? {};
    await page.mouse.move(x + from * width, y + 30);
    await page.mouse.down();
    await page.mouse.move(x + to * width, y + 30);
    await page.mouse.up();
    await page.waitForURL(/after=.*before=/u);
  };
  // From right to left as well. An hour may have begun since the executions did.
  await draw(0.999, 0.9);
  await page.getByRole("img", { name: "2 executions created in the chosen period, by hour" }).waitFor();
  await expect.poll(() => rows.count()).toBe(2);
  await page.goBack();
  await expect.poll(() => page.url()).not.toContain("after=");
  await draw(0.01, 0.2);
  await page.getByText("No execution matches").waitFor();
  expect(complaints).toEqual([]);
});

test("two executions that are compared change their places, and the path of a value is copied", async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/executions/compare?a=${first}&b=${second}`);
  const cells = () =>
    page.getByRole("table", { name: "Differences of the input" }).locator("tbody td").allInnerTexts();
  await expect.poll(cells).toEqual(["/params/n", "1", "2"]);
  await page.getByRole("link", { name: "Swap" }).click();
  await expect.poll(cells).toEqual(["/params/n", "2", "1"]);

  await open(`/o/${slug}/executions/${first}`);
  await page.getByRole("textbox", { name: "Result" }).getByText('"x"').click();
  await page.getByRole("button", { name: "Copy path" }).click();
  await page.getByText("Path /a~1b/0/x copied.").waitFor();
  await page.getByRole("tab", { name: "Log" }).click();
  const find = page.getByLabel("Find in the log");
  await find.press("Control+V");
  await expect.poll(() => find.inputValue()).toBe("/a~1b/0/x");
  expect(complaints).toEqual([]);
});

test("of an incoming execution the provider is shown neither input nor result nor files, which the subscriber is", async () => {
  await expectOk(world.api("POST", `/services/${serviceKey}/publish`, { scope: "marketplace" }));
  const other = await world.createOrganisation("Calling");
  const { id: applicationId } = await callIn(world, other.id, "POST", "/applications", { name: "theirs" });
  const subscribed = { applicationId, serviceKey, planId: "free" };
  const subscription = await callIn(world, other.id, "POST", "/subscriptions", subscribed);
  const path = `/subscriptions/${subscription["id"]}/executions`;
  const { id = "" } = await callIn(world, other.id, "POST", path, { params: { n: SECRET } });
  await awaitEnd(id);
  const { page, open, complaints } = await world.visit();
  const answers: string[] = [];
  page.on("response", (one) => {
    if (one.url().includes("/api/"))
      void one.text().then(
        (text) => answers.push(text),
        () => undefined,
      );
  });
  for (const [tab, words] of [
    ["result", "Input and result belong to the subscriber."],
    ["input", "Input and result belong to the subscriber."],
    ["files", "Files of a result belong to the subscriber."],
  ] as const) {
    await open(`/o/${slug}/executions/${id}?tab=${tab}`);
    await page.getByRole("tabpanel").getByText(words).waitFor();
    expect(await page.getByRole("main").textContent()).not.toContain(String(SECRET));
  }
  expect(answers.length).toBeGreaterThan(0);
  expect(answers.filter((text) => text.includes(String(SECRET)) || text.includes("Köln"))).toEqual([]);
  await open(`/o/${other.slug}/executions/${id}`);
  await page.getByRole("textbox", { name: "Result" }).getByText(String(SECRET)).waitFor();
  await page.getByRole("tab", { name: "Files (1)" }).click();
  await page.getByRole("cell", { name: "Köln 1.csv" }).waitFor();
  expect(complaints).toEqual([]);
});

test("the archive of a version is saved as it was uploaded", async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/services/${serviceKey}/versions/1.0.0`);
  const file = await save(page, "Download");
  expect(file.suggestedFilename()).toBe("working-1.0.0.zip");
  const path = join(world.directory, "saved.zip");
  await file.saveAs(path);
  const folder = join(world.directory, "saved");
  await runOk(["python3", "-m", "zipfile", "-e", path, folder]);
  expect(await readFile(join(folder, "src/program.py"), "utf8")).toBe(PROGRAM);
  expect(complaints).toEqual([]);
});

test("a token that expires within two weeks is marked, and exact times are in UTC where the user wants that", async () => {
  for (const [name, expiresInDays] of [
    ["for a while", 15],
    ["almost gone", 13],
  ] as const)
    await expectOk(world.api("POST", "/personal-access-tokens", { name, scopes: ["read"], expiresInDays }));
  const { page, open, complaints } = await world.visit();
  await open("/account/tokens");
  const soon = page.getByRole("row").filter({ has: page.getByText("Soon", { exact: true }) });
  await page.getByRole("row").filter({ hasText: "for a while" }).waitFor();
  expect(await soon.getByText(/for a while|almost gone/u).allTextContents()).toEqual(["almost gone"]);

  const { createdAt } = await readExecution(first);
  const readAccepted = async () => {
    await open(`/o/${slug}/executions/${first}`);
    return await page.getByRole("region", { name: "Timeline" }).getByRole("time").first().textContent();
  };
  expect(await readAccepted()).toMatch(/\d\d:\d\d:\d\d CES?T$/u);
  await open("/account");
  await page.getByRole("group", { name: "Exact times" }).getByText("UTC").click();
  expect(await readAccepted()).toContain(`${createdAt.slice(11)} UTC`);
  await page.getByRole("tab", { name: "Log" }).click();
  const times = () => page.locator(".log-time").allTextContents();
  const { body } = await world.api<{ items: readonly { timestamp: string }[] }>(
    "GET",
    `/executions/${first}/log`,
  );
  expect(body.items.length).toBe(3);
  await expect.poll(times).toEqual(body.items.map(({ timestamp }) => timestamp));
  expect(complaints).toEqual([]);
});
