import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "../../../tools/platform-client.ts";
import { openConsole } from "./support/open-console.ts";
import type { OwnConsole } from "./support/open-console.ts";
import { signUp } from "./support/sign-up.ts";

const FLAGS = ["--lease-seconds", "5", "--worker-cpu", "2", "--worker-memory", "2"];
const PROGRAM = `
import time

def run(data):
    print("began", flush=True)
    time.sleep(data["seconds"])
    return {"slept": data["seconds"]}
`;
const SETTLED = { timeout: 120_000, interval: 200 };
/** Markup, as a name. */
const NAME = `<img src=x onerror="document.title='hijacked'">`;
const OTHER = { email: "mira@elsewhere.example", password: "a password of many words" };

let world: OwnConsole;
let serviceKey: string;
let slug: string;

beforeAll(async () => {
  world = await openConsole({ role: "gateway,control,builder", flags: FLAGS });
  const me = await world.api<{ organization: { slug: string } }>("GET", "/me");
  ({ slug } = me.body.organization);
  ({ serviceKey } = await world.deploy(await world.createProject("sleeping", PROGRAM)));
  const { url } = await expectOk(world.api<{ url: string }>("POST", "/invitations", { role: "maintainer" }));
  await signUp(world.login.apiUrl, { ...OTHER, name: NAME }, new URL(url).pathname);
});
afterAll(() => world?.close());

async function startJob(seconds: number): Promise<string> {
  const { id } = await expectOk(
    world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, { data: { seconds } }),
  );
  return id;
}

const readStatus = async (id: string) =>
  (await world.api<{ status: string }>("GET", `/executions/${id}`)).body.status;
/** User code has begun: it has written a line. */
const readLog = async (id: string) =>
  (await world.api<{ items: readonly unknown[] }>("GET", `/executions/${id}/log`)).body.items;

test("draining takes no more work until it is taken back, and a killed worker is seen as silent, then its executions as UNKNOWN", async () => {
  const worker = await world.start({ role: "worker", flags: FLAGS });
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}`);
  await page.getByRole("button", { name: /^Account of/u }).click();
  await page.getByRole("menuitem", { name: "Operator" }).click();
  await page.getByRole("heading", { level: 1, name: "Health" }).waitFor();
  await page.getByText(/^Level [ABCD] on /u).waitFor();
  await page.getByRole("link", { name: "Workers" }).click();
  const rows = page.getByRole("table", { name: "Workers" }).locator("tbody tr");
  await rows.filter({ hasText: "Takes work" }).waitFor();

  await page.getByRole("button", { name: "Drain" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();
  await rows.filter({ hasText: "It takes no more work. It runs nothing: it can be stopped." }).waitFor();
  const id = await startJob(600);
  await expect
    .poll(async () => (await world.api("GET", `/executions/${id}`)).body, SETTLED)
    .toMatchObject({ status: "PENDING" });
  await expect
    .poll(async () => (await world.api("GET", `/executions/${id}/explanation`)).body, SETTLED)
    .toMatchObject({ reason: "NO_WORKER" });
  await open("/operator");
  const waiting = page.getByRole("table", { name: "Waiting executions" }).locator("tbody tr");
  await waiting.filter({ hasText: "no worker is running" }).waitFor();

  await open("/operator/workers");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
  await rows.filter({ hasText: "Takes work" }).waitFor();
  await expect.poll(async () => (await readLog(id)).length, SETTLED).toBeGreaterThan(0);

  await worker.kill();
  await rows.filter({ hasText: "Silent" }).waitFor();
  await expect.poll(() => readStatus(id), SETTLED).toBe("UNKNOWN");
  await rows.filter({ hasText: "It runs nothing any more." }).waitFor();
  await open(`/executions/${id}`);
  await page.getByText("WORKER_LOST").first().waitFor();
  await open("/operator");
  await page.getByRole("table", { name: "Processes" }).getByText("Silent").waitFor();
  expect(complaints).toEqual([]);
});

test("sessions over plain http beyond this host are warned of, and those of this host are not", async () => {
  const { page, open, complaints } = await world.visit();
  await open("/operator");
  await page.getByRole("heading", { name: "Addresses and sign-up" }).waitFor();
  expect(await page.getByText("Sessions run over plain http").count()).toBe(0);
  // The story's platform stays at an address that this host alone reaches; it says another one.
  await page.route("**/api/operator/instance", async (route) => {
    const response = await route.fetch();
    const instance = (await response.json()) as object;
    await route.fulfill({ response, json: { ...instance, apiUrl: "http://platform.example:8090" } });
  });
  await page.reload();
  const warning = page.getByRole("alert").filter({ hasText: "Sessions run over plain http" });
  await warning.getByText("http://platform.example:8090").waitFor();
  expect(complaints).toEqual([]);
});

test("a user is disabled and enabled, and the link for a new password is shown once and works", async () => {
  const { page, open, complaints } = await world.visit();
  await open("/operator/users?q=mira");
  const row = page.getByRole("table", { name: "Users" }).locator("tbody tr");
  await row.getByText(NAME).waitFor();
  await row.getByRole("button", { name: "Reset link" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Reset link" }).click();
  const link = page.getByRole("dialog", { name: `Link for ${OTHER.email}` });
  const url = (await link.locator(".mono").textContent()) ?? "";
  expect(url).toContain("/reset-password/");
  await link.getByRole("checkbox", { name: "I have stored it" }).check();
  await link.getByRole("button", { name: "Close" }).click();
  await page.reload();
  await row.getByText(NAME).waitFor();
  expect(await page.content()).not.toContain(url.split("/").at(-1));

  await row.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await row.getByText(/^Disabled/u).waitFor();
  await expect(world.visit({ as: OTHER })).rejects.toThrow("signing in was answered");
  await row.getByRole("button", { name: "Enable" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Enable" }).click();
  await row.getByText("Enabled").waitFor();
  expect(await page.title()).toBe("Users · Platform");
  expect(complaints).toEqual([]);
});

test("whoever does not run the platform finds no link to these pages, and is told who may see them without a request", async () => {
  const { page, open, complaints } = await world.visit({ as: OTHER });
  const asked: string[] = [];
  page.on("request", (one) => asked.push(new URL(one.url()).pathname));
  await open("/account");
  await page.getByRole("button", { name: /^Account of/u }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
  expect(await page.getByRole("menuitem", { name: "Operator" }).count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find a page" }).fill("operator");
  await page.getByRole("status").getByText("Nothing is found.").waitFor();
  for (const path of ["", "/activity", "/workers", "/storage", "/users", "/organizations", "/settings"]) {
    await open(`/operator${path}`);
    await page.getByRole("heading", { level: 1, name: "You may not see this page" }).waitFor();
    await page.getByText("Only operators of this platform").first().waitFor();
  }
  expect(await page.getByRole("table").count()).toBe(0);
  expect(asked.filter((path) => path.startsWith("/api/operator"))).toEqual([]);
  expect(complaints).toEqual([]);
});

test("who runs the platform finds these pages by their names", async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}`);
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Find a page" });
  await field.fill("operator");
  await page.getByRole("status").getByText("8 found").waitFor();
  await field.fill("storage");
  await page.getByRole("option", { name: "Storage" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Storage" }).waitFor();
  expect(complaints).toEqual([]);
});

test("figures over time are drawn and listed, and settings say where they come from, without a secret", async () => {
  const { page, open, complaints } = await world.visit();
  await open("/operator/activity");
  await page.getByRole("img", { name: /^Queue: waiting and running: last Waiting/u }).waitFor();
  await page.getByRole("button", { name: "Last 24 hours" }).click();
  await page.waitForURL(/span=day/u);
  await page.getByRole("heading", { name: "As a table" }).waitFor();
  await open("/operator/settings");
  const setting = page.getByRole("table", { name: "Settings" }).locator("tbody tr");
  const lease = setting.filter({ hasText: "PLATFORM_LEASE_SECONDS" });
  await lease.getByText("flag", { exact: true }).waitFor();
  await lease.getByText("5", { exact: true }).waitFor();
  expect(await page.content()).not.toContain(world.login.password);
  await open("/operator/storage");
  await page.getByRole("table", { name: "Storage" }).getByText("Archives of versions").waitFor();
  await open("/operator/organizations");
  await page.getByRole("table", { name: "Organisations" }).getByText(slug, { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});
