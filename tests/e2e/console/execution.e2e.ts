import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, request } from "../../../tools/platform-client.ts";
import { runCopied } from "./support/copy-as.ts";
import { openConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { callIn } from "./support/people.ts";

const PROGRAM = `
import os, time

def run(data, params):
    mode = params.get("mode")
    if mode == "follow":
        number = 0
        while not os.path.exists(params["until"]):
            print(f"line {number} <script>alert(1)</script>", flush=True)
            number += 1
            time.sleep(0.05)
        return {}
    if mode == "memory":
        return {"length": len(bytearray(b"x") * (1 << 30))}
    if mode == "large":
        return {"big": 12345678901234567890, "rows": [{"n": n, "text": "x" * 90} for n in range(143_000)], "last": "needle"}
    return {"big": 12345678901234567890, "sum": params.get("n", 0) + 1, "html": "<img src=x onerror=alert(1)>"}
`;
type Visit = Awaited<ReturnType<ConsoleWorld["visit"]>>;

let world: ConsoleWorld;
let slug: string;
let serviceKey: string;

beforeAll(async () => {
  world = await openConsole({ flags: ["--worker-cpu", "1", "--worker-memory", "4"] });
  const me = await world.api<{ organization: { slug: string } }>("GET", "/me");
  slug = me.body.organization.slug;
  serviceKey = (await world.deploy(await world.createProject("exact", PROGRAM))).serviceKey;
});
afterAll(() => world?.close());

/** Starts a job with a body as it stands here. */
async function start(body: string, key = serviceKey): Promise<string> {
  const { id } = await expectOk(
    request<{ id: string }>("POST", `${world.login.apiUrl}/api/jobs?serviceKey=${key}`, {
      token: world.login.personalAccessToken,
      headers: { "content-type": "application/json" },
      body,
    }),
  );
  return id;
}

async function readStatus(id: string): Promise<string> {
  return (await world.api<{ status: string }>("GET", `/executions/${id}`)).body.status;
}

async function finish(id: string): Promise<string> {
  await expect.poll(() => readStatus(id)).toMatch(/SUCCEEDED|FAILED|UNKNOWN/u);
  return id;
}

const openExecution = ({ open }: Visit, id: string, tab?: string) =>
  open(`/o/${slug}/executions/${id}${tab === undefined ? "" : `?tab=${tab}`}`);

test("12345678901234567890 and 1e400 appear digit by digit, and markup of a result is text", async () => {
  const id = await finish(
    await start('{"data": {"limit": 1e400, "id": 12345678901234567890}, "params": {"n": 1}}'),
  );
  const visit = await world.visit();
  await openExecution(visit, id);
  const result = visit.page.getByRole("textbox", { name: "Result" });
  await expect.poll(() => result.textContent()).toContain('"big": 12345678901234567890');
  expect(await result.textContent()).toContain("<img src=x onerror=alert(1)>");
  await visit.page.getByRole("tab", { name: "Input" }).click();
  const input = visit.page.getByRole("textbox", { name: "Input" });
  await expect.poll(() => input.textContent()).toContain('"limit": 1e400');
  expect(await input.textContent()).toContain('"id": 12345678901234567890');
  expect(visit.complaints).toEqual([]);
});

test("a result of 16 MB opens when it is asked for, folds, finds and downloads", async () => {
  const id = await finish(await start('{"params": {"mode": "large"}}'));
  const visit = await world.visit();
  const { page } = visit;
  await openExecution(visit, id);
  await page.getByRole("button", { name: "Show the result" }).click();
  const result = page.getByRole("textbox", { name: "Result" });
  await expect.poll(() => result.textContent()).toContain('"big": 12345678901234567890');
  expect(await result.textContent()).not.toContain("needle");
  await page.getByRole("button", { name: "Fold all", exact: true }).click();
  await expect.poll(() => result.textContent()).toContain('"last": "needle"');
  await page.getByRole("button", { name: "Unfold all" }).click();
  await page.getByRole("button", { name: "Find", exact: true }).click();
  await page.getByRole("textbox", { name: "Find" }).pressSequentially("needle");
  await page.keyboard.press("Enter");
  await expect.poll(() => result.textContent()).toContain('"last": "needle"');
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download" }).click(),
  ]);
  const text = await readFile(await download.path(), "utf8");
  expect(text.length).toBeGreaterThan(16_000_000);
  expect(text).toContain("12345678901234567890");
  expect(visit.complaints).toEqual([]);
});

test("a waiting execution says why and how many are ahead, and stops saying so when it starts", async () => {
  const wide = await world.createProject("wide", PROGRAM, {
    "platform.json": JSON.stringify({
      name: "wide",
      runtime: "PYTHON_TEMPLATE",
      resources: { cpu: 1, memory: 0.25 },
    }),
  });
  const { serviceKey: key } = await world.deploy(wide);
  const body = JSON.stringify({ params: { mode: "follow", until: "/never" } });
  const first = await start(body, key);
  await expect.poll(() => readStatus(first)).toBe("RUNNING");
  const second = await start(body, key);
  const third = await start(body, key);
  const visit = await world.visit();
  await openExecution(visit, third);
  const note = visit.page.getByRole("status").filter({ hasText: "Why it waits" });
  await note.getByText("1 ahead").waitFor();
  await note.getByText(/It needs 1 vCPU/u).waitFor();
  await world.api("PUT", `/jobs/${first}/cancel`);
  await note.getByText("It is the next one.").waitFor();
  await world.api("PUT", `/jobs/${second}/cancel`);
  await note.waitFor({ state: "detached" });
  await visit.page.getByText("Running").first().waitFor();
  await world.api("PUT", `/jobs/${third}/cancel`);
  await visit.page.getByText("CANCELLED").first().waitFor();
  expect(visit.complaints).toEqual([]);
});

test("what had too little memory shows its peak and the value to set, and how to run it elsewhere", async () => {
  const id = await finish(await start('{"params": {"mode": "memory"}}'));
  const visit = await world.visit();
  const { page } = visit;
  await openExecution(visit, id);
  const note = page.getByRole("alert").filter({ hasText: "OUT_OF_MEMORY" });
  await note.getByText('"memory": 0.5', { exact: true }).waitFor();
  await note.getByText(`platform run --replay ${id}`, { exact: true }).waitFor();
  await note.getByRole("button", { name: "Copy line for platform.json" }).click();
  await note.getByRole("button", { name: "Copied line for platform.json" }).waitFor();

  await page.getByRole("button", { name: "Replay locally" }).click();
  const dialog = page.getByRole("dialog", { name: "Replay on your machine" });
  await dialog.getByRole("button", { name: "Copy replay command" }).click();
  await dialog.getByRole("button", { name: "Copied replay command" }).waitFor();
  await dialog.getByText(`platform run --replay ${id}`, { exact: true }).waitFor();
  await dialog.getByText(`platform login --endpoint ${world.login.apiUrl}`, { exact: true }).waitFor();
  await page.goBack();
  await dialog.waitFor({ state: "detached" });
  expect(visit.complaints).toEqual([]);
});

test("keys open tabs, run again, once however long they are held, and ask before they cancel; not while something is typed", async () => {
  const ended = await finish(await start('{"params": {"n": 5}}'));
  const visit = await world.visit();
  const { page } = visit;
  await openExecution(visit, ended);
  const isOpen = (name: string) => page.getByRole("tab", { name, exact: true, selected: true }).waitFor();
  await page.keyboard.press("2");
  await isOpen("Input");
  await page.keyboard.press("f");
  await isOpen("Log");
  await page.getByLabel("Find in the log").fill("c1r");
  await isOpen("Log");
  await page.locator("h1").focus();
  await page.keyboard.press("1");
  await isOpen("Result");
  const started: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") started.push(new URL(request.url()).pathname);
  });
  await page.keyboard.down("r");
  await page.getByText("Started again with the same input.").waitFor();
  await page.waitForURL((url) => !url.pathname.includes(ended));
  await page.getByRole("button", { name: "Run again", disabled: false }).waitFor();
  for (let repeats = 0; repeats < 5; repeats += 1) await page.keyboard.down("r");
  await page.keyboard.up("r");
  await page.keyboard.press("5");
  await isOpen("Facts");

  const running = await start(JSON.stringify({ params: { mode: "follow", until: "/never" } }));
  await openExecution(visit, running);
  await page.keyboard.press("c");
  const dialog = page.getByRole("dialog", { name: "Cancel this execution?" });
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(await readStatus(running)).not.toBe("FAILED");
  await page.evaluate(() => localStorage.setItem("platform.keys", "off"));
  await page.keyboard.press("5");
  await page.keyboard.press("c");
  await page.evaluate(() => localStorage.removeItem("platform.keys"));
  await page.keyboard.press("3");
  await isOpen("Files (0)");
  expect(await dialog.count()).toBe(0);
  await world.api("PUT", `/jobs/${running}/cancel`);
  expect([started, visit.complaints]).toEqual([["/api/jobs"], []]);
});

test("an execution is run again with the same body, byte by byte", async () => {
  const body = '{"params":   {"n": 12345678901234567890}}';
  const id = await finish(await start(body));
  const visit = await world.visit();
  await openExecution(visit, id);
  const list = async () =>
    (await world.api<{ items: readonly unknown[] }>("GET", "/executions?kind=job&limit=100")).body.items;
  const before = (await list()).length;
  // Pressed twice at once.
  await visit.page.getByRole("button", { name: "Run again" }).evaluate((button: HTMLElement) => {
    button.click();
    button.click();
  });
  await visit.page.getByText("Started again with the same input.").first().waitFor();
  await expect.poll(() => visit.page.url()).not.toContain(id);
  await finish(new URL(visit.page.url()).pathname.split("/").at(-1) ?? "");
  expect((await list()).length).toBe(before + 1);
  const again = new URL(visit.page.url()).pathname.split("/").at(-1) ?? "";
  const input = await fetch(`${world.login.apiUrl}/api/executions/${again}/input`, {
    headers: { authorization: `Bearer ${world.login.personalAccessToken}` },
  });
  expect(await input.text()).toBe(body);
});

test("two executions compared show exactly the changed parameter and the changed result field", async () => {
  const first = await finish(await start('{"params": {"n": 1, "same": 1e400}}'));
  const second = await finish(await start('{"params": {"n": 2, "same": 1e400}}'));
  const visit = await world.visit();
  const { page } = visit;
  await visit.open(`/o/${slug}/executions`);
  await page.getByLabel(`Select ${first}`).check();
  await page.getByLabel(`Select ${second}`).check();
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Compare two executions" }).waitFor();
  const cells = (name: string) => page.getByRole("table", { name }).locator("tbody td").allInnerTexts();
  await expect.poll(() => cells("Differences of the input")).toEqual(["/params/n", "1", "2"]);
  await expect.poll(() => cells("Differences of the result")).toEqual(["/sum", "2", "3"]);
  expect(visit.complaints).toEqual([]);
});

test(
  "a failed execution leads to the last one of its service that has succeeded, and to what differs; before there is one, it says so",
  { tags: "full" },
  async () => {
    const { serviceKey: key } = await world.deploy(await world.createProject("faulty", PROGRAM));
    const failed = await finish(await start('{"params": {"n": "two"}}', key));
    const visit = await world.visit();
    const { page } = visit;
    await openExecution(visit, failed);
    const compare = page.getByRole("button", { name: "Compare with last success" });
    await compare.click();
    await page.getByText("None of this service has succeeded so far.").waitFor();

    await finish(await start('{"params": {"n": 1}}', key));
    const last = await finish(await start('{"params": {"n": 2}}', key));
    await finish(await start('{"params": {"n": 3}}'));
    await compare.click();
    await page.getByRole("heading", { level: 1, name: "Compare two executions" }).waitFor();
    const { searchParams } = new URL(page.url());
    expect([searchParams.get("a"), searchParams.get("b")]).toEqual([last, failed]);
    await page.getByText("Both are of faulty 1.0.0.").waitFor();
    const input = page.getByRole("table", { name: "Differences of the input" }).locator("tbody td");
    await expect.poll(() => input.allInnerTexts()).toEqual(["/params/n", "2", '"two"']);
    await page.getByText("Not both of them have a result.").waitFor();
    const state = page.getByRole("table", { name: "Facts of both" }).getByRole("row", { name: /^State/u });
    expect(await state.locator(".state").allTextContents()).toEqual(["Succeeded", "FailedEXECUTION_ERROR"]);
    const links = page.getByRole("table", { name: "Facts of both" }).getByRole("link");
    expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute("title")))).toEqual([
      last,
      failed,
    ]);
    expect(visit.complaints).toEqual([]);
  },
);

test("what Copy as gives of an execution, of the applications of an organisation and of its filtered audit log runs as it is copied and answers what the page shows", async () => {
  const id = await finish(await start('{"params": {"n": 12345678901234567890}}'));
  const me = await world.api<{ organization: { id: string } }>("GET", "/me");
  const { body: execution } = await world.api("GET", `/executions/${id}`);
  const visit = await world.visit();
  const { page } = visit;
  await openExecution(visit, id);
  expect(await runCopied(world, page, me.body.organization.id)).toEqual(repeat(execution, execution));

  // Not the user's own one, which is what a request is for that names none.
  const other = await world.createOrganisation("Copying");
  const application = await callIn(world, other.id, "POST", "/applications", { name: "it's copied" });
  await visit.open(`/o/${other.slug}/applications`);
  await page.getByRole("link", { name: "it's copied" }).waitFor();
  const list = (items: readonly unknown[]) => repeat({ items, nextCursor: null }, items);
  expect(await runCopied(world, page, other.id)).toEqual(list([application]));
  // What is filtered there is filtered elsewhere.
  const filter = new URLSearchParams({ action: "application.create", after: "2026-01-01 00:00:00" });
  await visit.open(`/o/${other.slug}/audit?${filter.toString()}`);
  const { items } = await callIn<{ items: readonly unknown[] }>(
    world,
    other.id,
    "GET",
    `/audit-events?${filter.toString()}`,
  );
  expect(items).toHaveLength(1);
  expect(await runCopied(world, page, other.id)).toEqual(list(items));
  expect(visit.complaints).toEqual([]);
});

/** What programs print that ask the API, and what the command prints. */
function repeat(answer: unknown, command: unknown) {
  return { curl: answer, Python: answer, JavaScript: answer, command };
}
