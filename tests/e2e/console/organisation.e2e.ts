import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { refuseTaken } from "./support/refuse-taken.ts";
import { addPerson, callIn, createPerson } from "./support/people.ts";
import {
  callQuantum,
  deployBackend,
  openQuantumSession,
  startQuantumJob,
  toCircuit,
  toJob,
} from "./support/quantum-backend.ts";
import { pressAll } from "./support/press-all.ts";
import { readWhy } from "./support/read-why.ts";
import { listRoutes } from "./support/routes.ts";
import { findTraces } from "./support/traces.ts";
import { IS_FULL_LENGTH } from "../../support/full-length.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await joinConsole();
});
afterAll(() => world.close());

const HOSTILE = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;

test("the audit log names who revoked a key, and holds no secret", async () => {
  const { id, slug } = await world.createOrganisation("Audited");
  const ivan = createPerson("Ivan");
  await addPerson(world, ivan, { of: id, role: "maintainer" });
  const application = await callIn(world, id, "POST", "/applications", { name: HOSTILE });
  const key = await callIn(world, id, "POST", `/applications/${application["id"]}/access-keys`);
  await callIn(world, id, "PUT", "/secrets/QPU_API_KEY", { value: "do not show this to anybody" });
  const revoker = await world.visit({ as: ivan });
  await revoker.open(`/o/${slug}/applications/${application["id"]}?tab=keys`);
  await revoker.page.getByRole("button", { name: "Revoke" }).click();
  await revoker.page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await revoker.page.getByText("Revoked", { exact: true }).waitFor();

  const { page, open, complaints } = await world.visit();
  const answers: Promise<string>[] = [];
  page.on("response", (response) => {
    if (response.url().includes("/api/audit-events")) answers.push(response.text());
  });
  await open(`/o/${slug}/audit`);
  const row = page.getByRole("row").filter({ hasText: "access-key.revoke" });
  await row.getByText(ivan.email).waitFor();
  await row.getByText("in a browser").waitFor();
  await row.getByText(key["keyId"] ?? "none").waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as CSV" }).click();
  const file = await readFile(await (await download).path(), "utf8");
  expect(file).toContain("access-key.revoke");
  const all = [file, await page.content(), ...(await Promise.all(answers))].join("\n");
  for (const secret of [key["secret"] ?? "none", "do not show this to anybody"])
    expect(all).not.toContain(secret);
  expect(await page.title()).not.toBe("run");
  expect(complaints).toEqual([]);
});

test("the filters of the audit log are its address, and survive a reload and Back", async () => {
  const { id, slug } = await world.createOrganisation("Filtered");
  for (const name of ["first", "second"]) await callIn(world, id, "POST", "/applications", { name });
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/audit?action=no-such.action&after=yesterday`);
  const rows = page.getByRole("rowgroup").last().getByRole("row");
  await expect.poll(() => rows.count()).toBe(3);
  await page.getByLabel("What", { exact: true }).selectOption("application.create");
  await expect.poll(() => rows.count()).toBe(2);
  expect(new URL(page.url()).searchParams.get("action")).toBe("application.create");
  await page.reload();
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByLabel("Who", { exact: true }).fill("nobody@example.org");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "No entry matches" }).waitFor();
  await page.goBack();
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect.poll(() => rows.count()).toBe(3);

  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText("Yes: 3 entries compared, and none is missing or was changed.").waitFor();
  expect(complaints).toEqual([]);
});

test("a variable shows its value and a secret never does, in no answer and on no page", async () => {
  const { id, slug } = await world.createOrganisation("Values");
  // More than a page of a list: what comes behind them is known as well.
  for (const letter of "ABCDEFGHIJKLMNOPQRSTUVWXY")
    await callIn(world, id, "PUT", `/variables/LAB_${letter}`, { value: "of the laboratory" });
  const { page, open, complaints } = await world.visit();
  const answers: Promise<string>[] = [];
  page.on("response", (response) => {
    if (response.url().includes("/api/")) answers.push(response.text().catch(() => ""));
  });
  await open(`/o/${slug}/settings`);
  await page.getByRole("button", { name: "New variable" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("PATH");
  await dialog.getByLabel("Value").fill(HOSTILE);
  await dialog.getByRole("button", { name: "Set" }).click();
  await dialog.getByText("PATH is set by the platform; choose another name.").waitFor();
  await dialog.getByLabel("Name").fill("QPU_REGION");
  await dialog.getByRole("button", { name: "Set" }).click();
  await page.getByRole("cell", { name: HOSTILE }).waitFor();
  await refuseTaken(page, "New variable", { Name: "QPU_REGION", Value: "other" });

  await page.getByRole("button", { name: "New secret" }).click();
  await dialog.getByLabel("Name").fill("QPU_API_KEY");
  await dialog.getByLabel("Value").fill("short");
  await dialog.getByRole("button", { name: "Set" }).click();
  await expect.poll(() => dialog.getByLabel("Value").getAttribute("aria-invalid")).toBe("true");
  const secret = "a value\nof two lines that is a secret";
  await dialog.getByLabel("Value").fill(secret);
  await dialog.getByRole("button", { name: "Set" }).click();
  const row = page.getByRole("row").filter({ hasText: "QPU_API_KEY" });
  await row.getByRole("button", { name: "Replace" }).click();
  expect(await dialog.getByLabel("Value").inputValue()).toBe("");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await refuseTaken(page, "New secret", { Name: "QPU_API_KEY", Value: "of another one" });
  await page.reload();
  await row.waitFor();
  const seen = [await page.content(), ...(await Promise.all(answers))].join("\n");
  expect(seen).toContain("QPU_REGION");
  expect(seen).not.toContain("that is a secret");

  await row.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await row.waitFor({ state: "detached" });
  expect(await page.title()).not.toBe("run");
  expect(complaints.filter((text) => !text.includes("400"))).toEqual([]);
});

/** Opens the page of webhooks of jobs, or of an application. */
const WEBHOOK_PAGES = {
  jobs: () => Promise.resolve("settings"),
  "an application": async (organizationId: string) => {
    const { id } = await callIn(world, organizationId, "POST", "/applications", { name: "caller" });
    return `applications/${id}?tab=webhooks`;
  },
};

/** What is shown once, after which nothing of the page keeps it. */
async function takeSecret(page: Page): Promise<string> {
  const shown = page.getByRole("dialog", { name: "The secret of the webhook" });
  const secret = (await shown.locator("dd .mono").textContent()) ?? "";
  expect(secret).toMatch(/^whsec_/u);
  await shown.getByLabel("I have stored it").check();
  await shown.getByRole("button", { name: "Close" }).click();
  await expect.poll(() => findTraces(page, secret)).toEqual([]);
  return secret;
}

test.for([...(IS_FULL_LENGTH ? (["jobs"] as const) : []), "an application"] as const)(
  "a webhook of %s shows each secret once, is told of a test, and says what became of the message",
  async (of) => {
    const { id, slug } = await world.createOrganisation(`Told of ${of}`);
    const told: string[] = [];
    const receiver = createServer((request, response) => {
      told.push(request.headers["webhook-id"]?.toString() ?? "");
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void receiver.close());
    const { port } = receiver.address() as AddressInfo;
    const { page, open, complaints } = await world.visit();
    await open(`/o/${slug}/${await WEBHOOK_PAGES[of](id)}`);
    await page.getByRole("button", { name: "New webhook" }).click();
    await page.getByRole("dialog").getByLabel("URL").fill(`http://127.0.0.1:${port}/hook`);
    await page.getByRole("button", { name: "Create" }).click();
    const former = await takeSecret(page);
    await page.getByRole("button", { name: "Test" }).click();
    await expect.poll(() => told.length).toBe(1);
    await page.getByRole("button", { name: "Messages" }).click();
    await page.getByRole("dialog").getByText("delivered").waitFor();
    await page.reload();
    await page.getByRole("dialog").getByText("delivered").waitFor();
    expect(await page.content()).not.toContain(former);
    await page.keyboard.press("Escape");
    const row = page.getByRole("row").filter({ hasText: "/hook" });
    await row.getByRole("button", { name: "New secret" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "New secret" }).click();
    expect(await takeSecret(page)).not.toBe(former);
    await row.getByRole("button", { name: "Pause" }).click();
    await row.getByText("Paused").waitFor();
    await row.getByRole("button", { name: "Resume" }).click();
    await row.getByText("Active").waitFor();
    await row.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await row.waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  },
);

test("an organisation is renamed with its address, and is gone when its name was typed", async () => {
  const { slug } = await world.createOrganisation("Before");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/settings`);
  await page.getByRole("button", { name: "Change" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("After all");
  await dialog.getByLabel("Short name").fill(`${slug}-after`);
  await dialog.getByRole("button", { name: "Change" }).click();
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/o/${slug}-after/settings`);
  await page.getByRole("button", { name: "Organisation: After all" }).waitFor();
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Delete" }).click();
  const confirm = dialog.getByRole("button", { name: "Delete" });
  expect(await readWhy(confirm, "Delete")).toBe('Type "After all" before.');
  await dialog.getByLabel(/^Type/u).fill("After all");
  await confirm.click();
  await expect.poll(() => new URL(page.url()).pathname).not.toContain(slug);
  await page.locator("h1").first().waitFor();
  await open(`/o/${slug}-after/settings`);
  await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();

  await open("/");
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  const remove = page.getByRole("button", { name: "Delete" });
  expect(await remove.getAttribute("aria-disabled")).toBe("true");
  await remove.hover();
  await page.getByRole("tooltip").getByText("This is your own organisation").waitFor();
  expect(complaints).toEqual([]);
});

/** For all pages together, on half a core. */
const LIMIT = { timeout: 1_200_000 };
/** Windows at one time: while one waits for the platform, the other one is pressed. */
const WINDOWS = 2;
test(
  "a viewer sees every page, no button of theirs is refused, and each that is of no use says why",
  LIMIT,
  async () => {
    const { id, slug } = await world.createOrganisation("Viewed");
    const ada = createPerson("Ada");
    await addPerson(world, ada, { of: id, role: "viewer" });
    const call = (method: string, path: string, json?: unknown) => callIn(world, id, method, path, json);
    const application = await call("POST", "/applications", { name: "caller" });
    await call("POST", `/applications/${application["id"]}/access-keys`);
    const pool = await call("POST", "/data-pools", { name: "Maps", description: "" });
    await call("PUT", "/variables/QPU_REGION", { value: "eu-1" });
    await call("PUT", "/secrets/QPU_API_KEY", { value: "a secret of the story" });
    await call("POST", "/applications/jobs/webhooks", { url: "https://example.org/hook" });
    const service = await deployService(id);
    await call("POST", `/services/${service}/publish`, { scope: "internal" });
    const subscription = await call("POST", "/subscriptions", {
      applicationId: application["id"],
      serviceKey: service,
    });
    const job = await call("POST", `/jobs?serviceKey=${service}`, {});
    const quantumJob = await runQuantumJob(id);
    const session = await openQuantumSession(world, id, BACKEND);
    await callQuantum(world, id, "PUT", "/budgets/EUR", { json: { amount: 100 } });

    /** What is in the place of parameters; other routes have none. */
    const subjects: Readonly<Record<string, string>> = {
      "/o/$org/services/$key": `services/${service}`,
      "/o/$org/services/$key/settings": `services/${service}/settings`,
      "/o/$org/services/$key/try": `services/${service}/try`,
      "/o/$org/services/$key/versions/$version": `services/${service}/versions/1.0.0`,
      "/o/$org/marketplace/$key": `marketplace/${service}`,
      "/o/$org/applications/$id": `applications/${application["id"]}`,
      "/o/$org/applications/$id/subscriptions/$sid": `applications/${application["id"]}/subscriptions/${subscription["id"]}`,
      "/o/$org/applications/$id/subscriptions/$sid/try": `applications/${application["id"]}/subscriptions/${subscription["id"]}/try`,
      "/o/$org/backends/$id": `backends/${BACKEND}`,
      "/o/$org/data-pools/$id": `data-pools/${pool["id"]}`,
      "/o/$org/executions/$id": `executions/${job["id"]}`,
      "/o/$org/quantum-jobs/$id": `quantum-jobs/${quantumJob}`,
      "/o/$org/quantum-sessions/$id": `quantum-sessions/${session}`,
      "/o/$org/executions/compare": `executions/compare?a=${job["id"]}&b=${job["id"]}`,
    };
    const { page, open } = await world.visit({ as: ada });
    await open(`/o/${slug}`);
    const rests = (await listRoutes(page))
      .filter(({ pattern }) => pattern.startsWith("/o/$org/"))
      .map(({ pattern }) => subjects[pattern] ?? pattern.replace("/o/$org/", ""));
    // A new route with parameters needs a line above.
    expect(rests.filter((rest) => rest.includes("$"))).toEqual([]);
    expect(rests.length).toBeGreaterThan(15);
    const paths = [`/o/${slug}`, ...rests.map((rest) => `/o/${slug}/${rest}`)];
    const reasons: string[] = [];
    const faults = await Promise.all(
      Array.from({ length: WINDOWS }, async () => pressAll(await world.visit({ as: ada }), paths, reasons)),
    );
    expect(faults.flat()).toEqual([]);
    expect(reasons.length).toBeGreaterThan(100);
    await open(`/o/${slug}/audit`);
    await page.getByText(/You are viewer of Viewed; this needs the role owner/u).waitFor();
    expect(await page.getByRole("link", { name: "Audit log" }).count()).toBe(0);
    await open(`/o/${slug}/executions`);
    await page.getByText("Select two executions to compare them.").waitFor();
  },
);

const BACKEND = "seen.h7";

/** A job of a backend, in the organisation that `deployService` has chosen; its id. */
async function runQuantumJob(organizationId: string): Promise<string> {
  const texts = {
    name: "H7",
    description: "Seven qubits",
    technology: "SUPERCONDUCTING",
    gates: ["h", "cx"],
  };
  await deployBackend(world, BACKEND, texts);
  return await startQuantumJob(world, organizationId, toJob(BACKEND, [toCircuit(3)]));
}

/** A service with one version; its key. */
async function deployService(organisation: string): Promise<string> {
  const project = await world.createProject("seen", "def run(data, params):\n    return {}\n");
  await world.cli(project, "set-context", organisation);
  const { serviceKey } = await world.deploy(project);
  return serviceKey;
}
