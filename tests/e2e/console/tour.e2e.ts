import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { env } from "node:process";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "../../../tools/platform-client.ts";
import { createTour, MOST_STOPS, PROJECTS } from "./support/laboratory-projects.ts";
import { openConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { deployBackend, H7, startQuantumJob, toCircuit, toJob } from "./support/quantum-backend.ts";
import { waitUntilSettled, watchRequests } from "./support/settled.ts";

/** Where the pictures of docs/guide/console.md go (docs/development.md). */
const PICTURES = env["PLATFORM_TEST_TOUR"];
const NAME = "route-planner";
const WINDOW = { width: 1200, height: 750 } as const;

let world: ConsoleWorld;
let pending: ReadonlySet<unknown>;
beforeAll(async () => {
  world = await openConsole();
  const { body } = await world.api<{ organization: { id: string } }>("GET", "/me");
  await expectOk(world.api("PUT", "/me", { name: "Greta Hofer" }));
  await expectOk(
    world.api("PUT", `/organizations/${body.organization.id}`, { name: "Alpine Lab", slug: "alpine-lab" }),
  );
});
afterAll(() => world?.close());

/** Keeps what the window shows, as WebP. */
async function keep(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  await page.mouse.move(1, WINDOW.height - 1);
  await waitUntilSettled(page, pending);
  // The header's menus come behind the page, and so do charts.
  if ((await page.getByRole("banner").count()) > 0)
    await page.getByRole("button", { name: /^Account of/u, includeHidden: true }).waitFor();
  await expect.poll(() => page.locator(".mantine-Skeleton-root").count()).toBe(0);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  await session.detach();
  await writeFile(join(PICTURES, `${name}.webp`), Buffer.from(data, "base64"));
}

const title = (page: Page, name: string | RegExp) =>
  page.getByRole("heading", { level: 1, name, exact: typeof name === "string" }).waitFor();

async function start(serviceKey: string, params: Readonly<Record<string, number>>): Promise<string> {
  const { id } = await expectOk(
    world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, {
      data: createTour(MOST_STOPS),
      params,
    }),
  );
  const state = async () => (await world.api<{ status: string }>("GET", `/executions/${id}`)).body.status;
  await expect.poll(state).toBe("SUCCEEDED");
  return id;
}

test("a service goes all the way: from its ZIP file into the marketplace, to the endpoint URL and client of another organisation, and runs with a file of a data pool", async () => {
  const { page, open, context, complaints } = await world.visit({ as: null });
  pending = watchRequests(page);
  await page.setViewportSize(WINDOW);
  await open("/");
  await keep(page, "sign-in");
  await page.getByLabel("Email address").fill(world.login.email);
  await page.getByLabel("Password", { exact: true }).fill(world.login.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await title(page, "Alpine Lab");
  await page.getByText("Deploy a service").waitFor();
  await keep(page, "home");

  // Upload, with the build's log.
  const project = await world.createProject(NAME, PROJECTS[NAME].program, PROJECTS[NAME].files);
  expect((await world.cli(project, "compress", "--json")).code).toBe(0);
  await page.getByRole("link", { name: "Services" }).click();
  await page.getByRole("link", { name: "New service" }).first().click();
  await page.getByLabel("ZIP file of the project").setInputFiles(join(project, `${NAME}.zip`));
  await page.getByRole("button", { name: /^Upload/u }).waitFor();
  await keep(page, "upload");
  await page.getByRole("button", { name: /^Upload/u }).click();
  await title(page, `${NAME} 1.0.0`);
  await page.getByText("Live: it accepts executions").waitFor();
  await page.getByText("The version is live").or(page.getByText("Succeeded")).first().waitFor();
  await keep(page, "build");
  await page.getByRole("link", { name: NAME, exact: true }).click();
  await title(page, NAME);
  const serviceKey = new URL(page.url()).pathname.split("/").at(-1) ?? "";

  // Offer it.
  const own = `/services/${serviceKey}`;
  await expectOk(
    world.api("PUT", `${own}/listing`, {
      title: "Route planner for one van",
      summary: "Round trips of up to 200 stops within seconds",
      tags: ["logistics", "optimisation"],
      contact: "routes@alpine-lab.example",
    }),
  );
  await expectOk(
    world.api("PUT", `${own}/plans/trial`, { name: "Trial", limits: { perMonth: 100, concurrent: 2 } }),
  );
  await expectOk(
    world.api("PUT", `${own}/plans/business`, {
      name: "Business",
      currency: "EUR",
      monthly: "49",
      perExecution: "0.012",
      included: 2_000,
      limits: { perMonth: 50_000, concurrent: 20 },
    }),
  );
  await open(`/o/alpine-lab/services/${serviceKey}?tab=listing`);
  await page.getByRole("tab", { name: "Listing", selected: true }).waitFor();
  await keep(page, "listing");
  await open(`/o/alpine-lab/services/${serviceKey}`);
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("menuitem", { name: "In the marketplace" }).waitFor();
  await keep(page, "publish");
  await page.getByRole("menuitem", { name: "In the marketplace" }).click();
  await page.getByText("Everybody").waitFor();

  // Another organisation finds it, and subscribes.
  const { slug } = await world.createOrganisation("Nordwind Logistics");
  await open(`/o/${slug}/marketplace`);
  await page.getByRole("link", { name: "Route planner for one van" }).waitFor();
  await keep(page, "marketplace");
  await page.getByRole("link", { name: "Route planner for one van" }).click();
  await title(page, "Route planner for one van");
  await page.getByRole("tab", { name: "Plans" }).click();
  await page.getByText("At most 100 executions a month").waitFor();
  await keep(page, "plans");
  await page.getByRole("button", { name: "Subscribe", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: /^Subscribe to/u });
  await dialog.getByRole("radio", { name: /^Business/u }).check();
  await keep(page, "subscribe");
  await dialog.getByRole("button", { name: "Next" }).click();
  await dialog.getByLabel("Name").fill("Dispatch office");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByRole("button", { name: "Subscribe" }).click();
  await dialog.getByText("Endpoint URL", { exact: true }).waitFor();
  await keep(page, "endpoint");
  await dialog.getByRole("link", { name: "Open the application" }).click();
  await title(page, "Dispatch office");
  await page.getByRole("button", { name: "Copy endpoint URL" }).click();
  await page.getByRole("button", { name: "Copied endpoint URL" }).waitFor();
  await keep(page, "application");
  await open(`/o/${slug}/marketplace/${serviceKey}?tab=clients`);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Python", exact: true }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`${NAME}-1.0.0-python.zip`);
  await keep(page, "clients");

  // The provider runs it with a file of a data pool.
  const { id: pool } = await expectOk(
    world.api<{ id: string }>("POST", "/data-pools", {
      name: "Tours",
      description: "Stops of each day, by region",
    }),
  );
  await open(`/o/alpine-lab/data-pools/${pool}`);
  await page.getByLabel("Files for the data pool").setInputFiles({
    name: "salzburg-monday.json",
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify(createTour(MOST_STOPS))),
  });
  await page.getByRole("button", { name: "Copy Text of salzburg-monday.json" }).click();
  await page.getByRole("button", { name: "Copied Text of salzburg-monday.json" }).waitFor();
  await page.getByRole("list", { name: "Uploads" }).waitFor({ state: "detached" });
  await keep(page, "data-pool");
  await open(`/o/alpine-lab/services/${serviceKey}/try`);
  await startByReference(page);
  await title(page, `${NAME} 1.0.0`);
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByText("restart 3:").waitFor();
  await keep(page, "log");
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByText("CANCELLED").first().waitFor();

  // Two runs side by side.
  const one = await start(serviceKey, { speed_kmh: 45, minutes_per_stop: 8 });
  const other = await start(serviceKey, { speed_kmh: 60, minutes_per_stop: 8 });
  await open(`/o/alpine-lab/executions/${one}`);
  await expect
    .poll(() => page.getByRole("textbox", { name: "Result" }).textContent())
    .toContain("distance_km");
  await keep(page, "result");
  await open(`/o/alpine-lab/executions/compare?a=${one}&b=${other}`);
  await page.getByText("/params/speed_kmh").waitFor();
  await page.getByText("/duration_minutes").waitFor();
  await keep(page, "compare");
  await open("/o/alpine-lab/executions");
  await page.getByRole("table", { name: "Executions", exact: true }).waitFor();
  await keep(page, "executions");
  await lookAtQuantum(page, open);
  await open("/o/alpine-lab/members");
  await title(page, "Members");
  await keep(page, "members");
  await open("/o/alpine-lab/usage");
  await title(page, "Usage");
  await keep(page, "usage");
  expect(complaints.filter((text) => !/40[14]/u.test(text))).toEqual([]);
  await context.close();
});

/** A backend of the lab, and a job that has run on it. */
async function lookAtQuantum(page: Page, open: (path: string) => Promise<void>): Promise<void> {
  const backend = "lab.h7";
  await deployBackend(world, backend, H7);
  const { body } = await world.api<{ organization: { id: string } }>("GET", "/me");
  const asked = toJob(backend, [toCircuit(5)], { name: "GHZ of five qubits", tags: ["ghz"] });
  const job = await startQuantumJob(world, body.organization.id, asked);
  await open(`/o/alpine-lab/backends/${backend}`);
  await page.getByText("Online", { exact: true }).waitFor();
  await keep(page, "backend");
  await open(`/o/alpine-lab/quantum-jobs/${job}`);
  await page.getByText(/outcomes of 1,000 shots$/u).waitFor();
  await keep(page, "quantum-job");
}

/** Pages may not read the clipboard, so the reference is pasted into the input. */
async function startByReference(page: Page): Promise<void> {
  await page.getByText("JSON", { exact: true }).click();
  const input = page.getByRole("textbox", { name: "Input" });
  await expect.poll(() => input.inputValue()).toContain("Salzburg");
  await input.fill('{\n  "dataRef": ');
  await input.press("ControlOrMeta+End");
  await input.press("ControlOrMeta+V");
  await input.pressSequentially(',\n  "params": {"search_seconds": 60}\n}');
  await page.evaluate(() => scrollTo(0, 0));
  await keep(page, "try");
  await page.getByRole("button", { name: "Run" }).click();
  await page.waitForURL(/\/executions\/[0-9a-f-]{36}/u);
}
