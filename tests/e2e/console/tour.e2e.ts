import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runOk } from "../../clients/tools.ts";
import { buildClient } from "../../support/client-package.ts";
import { findCutText } from "./support/axe.ts";
import { LANGUAGES, readVariables, saveFile } from "./support/downloads.ts";
import { createTour, MOST_STOPS, PROJECTS } from "./support/laboratory-projects.ts";
import { openConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { createPerson } from "./support/people.ts";
import { deployBackend, H7, startQuantumJob, toCircuit, toJob } from "./support/quantum-backend.ts";
import { readClipboard } from "./support/clipboard.ts";
import { arrive } from "./support/tourist.ts";
import type { Tourist } from "./support/tourist.ts";

const NAME = "route-planner";
const LISTED = "Route planner for one van";
const APPLICATION = "Dispatch office";
const FILE = "salzburg-monday.json";
/** Of the project's example. */
const PARAMS = { speed_kmh: 45, minutes_per_stop: 8 } as const;

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsole({ flags: ["--sign-up", "open"] });
});
afterAll(() => world?.close());

test("a service goes all the way in the browser: a user uploads its ZIP file, lists it and publishes it with plans; a user of another organisation signs up, subscribes, and runs each client; then it runs with a file of a data pool, is compared, and its usage is read", async () => {
  const lab = await arrive(world);
  await signIn(lab);
  await rename(lab, "Greta Hofer");
  await nameOrganisation(lab, "Alpine Lab", "alpine-lab");
  await lab.keep("home");
  await lab.goTo("Services");
  await upload(lab);
  await writeListing(lab);
  await addPlans(lab);
  await publish(lab);

  const firm = await arrive(world);
  await signUp(firm);
  await nameOrganisation(firm, "Nordwind Logistics", "nordwind-logistics");
  await findInMarketplace(firm);
  const endpoint = await subscribe(firm);
  const key = await createKey(firm);
  const results = await runClients(firm, { ...key, PLATFORM_SERVICE_ENDPOINT: endpoint });

  await uploadFile(lab);
  await startByReference(lab);
  await followLog(lab);
  const slow = await runEdited(lab, PARAMS);
  // Whoever calls gets what the lab's own run gets.
  expect(results).toEqual(results.map(() => slow.result));
  const fast = await runEdited(lab, { ...PARAMS, speed_kmh: 60 });
  await lab.keep("result");
  await compare(lab, slow.id, fast.id);

  // What the subscription has used is the same number for who calls and for who provides.
  await readUsage(firm, "Used by us", results.length);
  await readUsage(lab, "Used of our services", results.length);
  await lab.keep("usage");
  await lookAtQuantum(lab);
  await lab.goTo("Members");
  await lab.keep("members");
  // While it is built, the version is not there.
  expect(lab.complaints.filter((text) => !/404 .*\/versions\/1\.0\.0\)$/u.test(text))).toEqual([]);
  expect(firm.complaints).toEqual([]);
});

async function signIn({ page, title, keep }: Tourist): Promise<void> {
  await title("Sign in");
  await keep("sign-in");
  await page.getByLabel("Email address").fill(world.login.email);
  await page.getByLabel("Password", { exact: true }).fill(world.login.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("Deploy a service").waitFor();
}

async function signUp({ page }: Tourist): Promise<void> {
  const { name, email, password } = createPerson("Mira");
  await page.getByRole("link", { name: "Create one" }).click();
  await page.getByLabel("Your name").fill(name);
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByText("Deploy a service").waitFor();
}

/** The first login is nobody in particular. */
async function rename({ page, title }: Tourist, name: string): Promise<void> {
  await page.getByRole("button", { name: /^Account of/u }).click();
  await page.getByRole("menuitem", { name: "Profile" }).click();
  await title("Profile");
  await page.getByRole("button", { name: "Rename" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("button", { name: `Account of ${name}` }).waitFor();
}

/** That of a new user is named after the user. */
async function nameOrganisation({ page, goTo, title }: Tourist, name: string, slug: string): Promise<void> {
  await goTo("Settings");
  await page.getByRole("button", { name: "Change", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  await dialog.getByLabel("Short name").fill(slug);
  await dialog.getByRole("button", { name: "Change" }).click();
  await page.waitForURL(`**/o/${slug}/settings`);
  await page.getByRole("link", { name: "Home" }).click();
  await title(name);
  // The header has the name as well.
  expect(await findCutText(page)).toEqual([]);
}

async function upload({ page, title, keep }: Tourist): Promise<void> {
  const project = await world.createProject(NAME, PROJECTS[NAME].program, PROJECTS[NAME].files);
  expect((await world.cli(project, "compress", "--json")).code).toBe(0);
  await page.getByRole("link", { name: "New service" }).first().click();
  await page.getByLabel("ZIP file of the project").setInputFiles(join(project, `${NAME}.zip`));
  await page.getByRole("button", { name: /^Upload/u }).waitFor();
  await keep("upload");
  await page.getByRole("button", { name: /^Upload/u }).click();
  await title(`${NAME} 1.0.0`);
  await page.getByText("Live: it accepts executions").waitFor();
  await page.getByText("The version is live").or(page.getByText("Succeeded")).first().waitFor();
  await keep("build");
  await page.getByRole("link", { name: NAME, exact: true }).click();
  await title(NAME);
}

async function writeListing({ page, keep }: Tourist): Promise<void> {
  await page.getByRole("tab", { name: "Listing" }).click();
  await page.getByLabel("Title").fill(LISTED);
  await page.getByLabel("Summary").fill("Round trips of up to 200 stops within seconds");
  const tags = page.getByRole("combobox", { name: "Tags" });
  for (const tag of ["logistics", "optimisation"]) {
    await tags.fill(tag);
    await tags.press("Enter");
  }
  await page.getByLabel("Contact").fill("routes@alpine-lab.example");
  await page.getByRole("button", { name: "Use the example of the project" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  await page.evaluate(() => scrollTo(0, 0));
  await keep("listing");
}

/** What the form of a plan is filled with, by the labels of its fields. */
const PLANS = [
  {
    Name: "Trial",
    "Name in URLs": "trial",
    "At most per month": "100",
    "Executions at one time": "2",
  },
  {
    Name: "Business",
    "Name in URLs": "business",
    Currency: "EUR",
    "Price per month": "49",
    "Price per execution": "0.012",
    "Included per month": "2000",
    "At most per month": "50000",
    "Executions at one time": "20",
  },
] as const;

async function addPlans({ page }: Tourist): Promise<void> {
  await page.getByRole("tab", { name: "Plans" }).click();
  for (const plan of PLANS) {
    await page.getByRole("button", { name: "New plan" }).click();
    const dialog = page.getByRole("dialog", { name: "New plan" });
    for (const [label, value] of Object.entries(plan))
      await dialog.getByRole("textbox", { name: label, exact: true }).fill(value);
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("row").filter({ hasText: plan.Name }).waitFor();
  }
}

async function publish({ page, keep }: Tourist): Promise<void> {
  await page.getByRole("tab", { name: "Overview" }).click();
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("menuitem", { name: "In the marketplace" }).waitFor();
  await keep("publish");
  await page.getByRole("menuitem", { name: "In the marketplace" }).click();
  await page.getByText("Everybody").waitFor();
}

async function findInMarketplace({ page, goTo, title, keep }: Tourist): Promise<void> {
  await goTo("Marketplace");
  await page.getByRole("link", { name: LISTED }).waitFor();
  await keep("marketplace");
  await page.getByRole("link", { name: LISTED }).click();
  await title(LISTED);
  await page.getByRole("tab", { name: "Plans" }).click();
  await page.getByText("At most 100 executions a month").waitFor();
  await keep("plans");
}

/** The plan, then the application; returns the endpoint URL that was copied. */
async function subscribe({ page, context, title, keep }: Tourist): Promise<string> {
  await page.getByRole("button", { name: "Subscribe", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: /^Subscribe to/u });
  await dialog.getByRole("radio", { name: /^Business/u }).check();
  await keep("subscribe");
  await dialog.getByRole("button", { name: "Next" }).click();
  await dialog.getByLabel("Name").fill(APPLICATION);
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByRole("button", { name: "Subscribe" }).click();
  await dialog.getByText("Endpoint URL", { exact: true }).waitFor();
  await keep("endpoint");
  await dialog.getByRole("link", { name: "Open the application" }).click();
  await title(APPLICATION);
  await page.getByRole("button", { name: "Copy endpoint URL" }).click();
  await page.getByRole("button", { name: "Copied endpoint URL" }).waitFor();
  await keep("application");
  const copied = await readClipboard(context);
  expect(new URL(copied).pathname).toMatch(new RegExp(`/${NAME}/1\\.0\\.0/$`, "u"));
  return copied;
}

/** An access key of the application, as the variables that clients read. */
async function createKey({ page }: Tourist): Promise<Readonly<Record<string, string>>> {
  await page.getByRole("tab", { name: "Keys" }).click();
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "The new access key" });
  const { name, path } = await saveFile(page, "Download platform.env");
  expect(name).toBe("platform.env");
  await dialog.getByLabel("I have stored it").check();
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  return readVariables(path);
}

/** What each client prints that this machine can build; the story of the marketplace says which one it cannot. */
async function runClients(
  { page, goTo, title, keep }: Tourist,
  environment: Readonly<Record<string, string>>,
): Promise<readonly unknown[]> {
  await goTo("Marketplace");
  await page.getByRole("link", { name: LISTED }).click();
  await title(LISTED);
  await page.getByRole("tab", { name: "Clients" }).click();
  await page.getByRole("button", { name: "OpenAPI document" }).waitFor();
  await keep("clients");
  const results: unknown[] = [];
  for (const [label, language] of LANGUAGES) {
    const { name, path } = await saveFile(page, label);
    expect(name).toBe(`${NAME}-1.0.0-${language}.zip`);
    const built = await buildClient(language, path, join(world.directory, language));
    if ("reason" in built) continue;
    results.push(JSON.parse(await runOk(built.example, { cwd: built.folder, environment })));
  }
  return results;
}

/** A data pool with a file, whose reference is copied. */
async function uploadFile({ page, goTo, title, keep }: Tourist): Promise<void> {
  await goTo("Data pools");
  await page.getByRole("button", { name: "New data pool" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New data pool" });
  await dialog.getByLabel("Name").fill("Tours");
  await dialog.getByLabel("Description").fill("Stops of each day, by region");
  await dialog.getByRole("button", { name: "Create" }).click();
  await title("Tours");
  await page.getByLabel("Files for the data pool").setInputFiles({
    name: FILE,
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify(createTour(MOST_STOPS))),
  });
  await page.getByRole("button", { name: `Copy Text of ${FILE}` }).click();
  await page.getByRole("button", { name: `Copied Text of ${FILE}` }).waitFor();
  await page.getByRole("list", { name: "Uploads" }).waitFor({ state: "detached" });
  await keep("data-pool");
}

async function startByReference({ page, goTo, title, keep }: Tourist): Promise<void> {
  await goTo("Services");
  await page.getByRole("link", { name: NAME, exact: true }).click();
  await title(NAME);
  await page.getByRole("link", { name: "Try it" }).click();
  await title(`Try ${NAME}`);
  await page.getByText("JSON", { exact: true }).click();
  const input = page.getByRole("textbox", { name: "Input" });
  await expect.poll(() => input.inputValue()).toContain("Salzburg");
  await input.fill('{\n  "dataRef": ');
  await input.press("ControlOrMeta+End");
  await input.press("ControlOrMeta+V");
  await input.pressSequentially(',\n  "params": {"search_seconds": 60}\n}');
  await page.evaluate(() => scrollTo(0, 0));
  await keep("try");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await title(`${NAME} 1.0.0`);
}

/** As it is written, until it is seen that it goes on. */
async function followLog({ page, keep }: Tourist): Promise<void> {
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByText("restart 3:").waitFor();
  await keep("log");
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByText("CANCELLED").first().waitFor();
}

/** Starts one like the one that the page shows, with other parameters. */
async function runEdited(
  { page, title }: Tourist,
  params: Readonly<Record<string, number>>,
): Promise<{ readonly id: string; readonly result: unknown }> {
  await page.getByRole("tab", { name: "Input" }).click();
  await page.getByRole("link", { name: "Edit and run" }).click();
  await title(`Try ${NAME}`);
  const input = page.getByRole("textbox", { name: "Input" });
  const { dataRef } = JSON.parse(await input.inputValue()) as { readonly dataRef?: unknown };
  expect(dataRef).toHaveProperty("dataPoolId");
  await input.fill(JSON.stringify({ dataRef, params }));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await title(`${NAME} 1.0.0`);
  const result = page.getByRole("textbox", { name: "Result" });
  await expect.poll(() => result.textContent()).toContain("distance_km");
  return {
    id: new URL(page.url()).pathname.split("/").at(-1) ?? "",
    result: JSON.parse((await result.textContent()) ?? "") as unknown,
  };
}

async function compare({ page, goTo, keep }: Tourist, one: string, other: string): Promise<void> {
  await goTo("Executions");
  await keep("executions");
  for (const id of [one, other]) await page.getByRole("checkbox", { name: `Select ${id}` }).check();
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await page.getByText("/params/speed_kmh").waitFor();
  await page.getByText("/duration_minutes").waitFor();
  await keep("compare");
}

async function readUsage({ page, goTo }: Tourist, side: string, calls: number): Promise<void> {
  await goTo("Usage");
  await page.getByRole("tab", { name: side }).click();
  // A month may have ended meanwhile.
  await page.getByRole("button", { name: "Last 7 days" }).click();
  const sums = page.getByRole("region", { name: "Sums" });
  for (const name of ["Executions", "Succeeded"])
    await expect
      .poll(() => sums.getByText(name, { exact: true }).locator("xpath=following-sibling::*").textContent())
      .toBe(String(calls));
  // Of this day, and of the next one where it has begun meanwhile.
  await sums.getByText(/^\d\.\d{1,2} EUR$/u).waitFor();
}

/** A backend of the lab, and a job that has run on it. */
async function lookAtQuantum({ page, open, keep }: Tourist): Promise<void> {
  const backend = "lab.h7";
  await deployBackend(world, backend, H7);
  const { body } = await world.api<{ organization: { id: string } }>("GET", "/me");
  const asked = toJob(backend, [toCircuit(5)], { name: "GHZ of five qubits", tags: ["ghz"] });
  const job = await startQuantumJob(world, body.organization.id, asked);
  await open(`/o/alpine-lab/backends/${backend}`);
  await page.getByText("Online", { exact: true }).waitFor();
  await keep("backend");
  await open(`/o/alpine-lab/quantum-jobs/${job}`);
  await page.getByText(/outcomes of 1,000 shots$/u).waitFor();
  await keep("quantum-job");
}
