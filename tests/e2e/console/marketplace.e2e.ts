import { mkdir, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, request } from "../../../tools/platform-client.ts";
import { SHOWN_LANGUAGES, runShownOk } from "../../clients/snippet-programs.ts";
import { install, runOk } from "../../clients/tools.ts";
import { buildClient, needClient } from "../../support/client-package.ts";
import { judgeDialog } from "./support/axe.ts";
import { LANGUAGES, saveFile } from "./support/downloads.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";

const PROGRAM = `
def run(data: dict[str, int]) -> int:
    """Adds up."""
    return sum(data.values())
`;
const DESCRIBED = JSON.stringify({
  name: "adding",
  runtime: "PYTHON_TEMPLATE",
  resources: { cpu: 0.25, memory: 0.25 },
  descriptionFile: "README.md",
});
const README = `# Adding

<script>document.title = 'hijacked'</script>
<img src="x" onerror="document.title = 'hijacked'">

[more](javascript:document.title='hijacked') ![shot](https://elsewhere.example/seen.png)
`;
/** Words of the provider, which stand on pages of others. */
const TITLE = "Adding <img src=x onerror=alert(1)> up";

/** What ends a quotation or is filled in where it is copied without care; the values are added up. */
const EXAMPLE = JSON.stringify({ [`it's "ä" \\ $HOME \`id\` $(id)\n`]: 1, b: 2 });

let world: ConsoleWorld;
let serviceKey: string;
beforeAll(async () => {
  world = await joinConsole();
  const files = { "platform.json": DESCRIBED, "README.md": README, "input/data.json": EXAMPLE };
  ({ serviceKey } = await world.deploy(await world.createProject("adding", PROGRAM, files)));
  const calls = [
    [
      "PUT",
      "/listing",
      {
        title: TITLE,
        summary: "Sums of numbers",
        tags: ["numbers"],
        contact: "a@b.example",
        exampleInput: { data: { a: 1, b: 2 } },
      },
    ],
    ["POST", "/publish", { scope: "marketplace" }],
    [
      "PUT",
      "/plans/paid",
      { name: "Paid", currency: "EUR", monthly: "10", perExecution: "0.0025", limits: { perMonth: 1000 } },
    ],
  ] as const;
  for (const [method, path, body] of calls) {
    const { status } = await world.api(method, `/services/${serviceKey}${path}`, body);
    if (status >= 300) throw new Error(`${method} ${path} was answered ${status}`);
  }
});
afterAll(() => world.close());

test("another organisation finds the service, chooses a plan, then an application, and reads the endpoint URL in that application's subscriptions", async () => {
  const { slug } = await world.createOrganisation("Customer");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/marketplace`);
  await page.getByRole("searchbox", { name: "Search the marketplace" }).fill("number");
  await page.getByRole("checkbox", { name: "With a free plan" }).check();
  await page.waitForURL(/q=number.*price=free|price=free.*q=number/u);
  await page.getByRole("link", { name: TITLE }).click();
  await page.getByRole("heading", { level: 1, name: TITLE }).waitFor();

  await page.getByRole("tab", { name: "Plans" }).click();
  await page.getByText("10 EUR a month + 0.0025 EUR an execution").waitFor();
  await page.getByRole("button", { name: "Subscribe", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: /^Subscribe to/u });
  const found: string[] = [];
  const judge = async () => found.push(...(await judgeDialog(page)));
  await dialog.getByRole("radio", { name: /^Paid/u }).check();
  await judge();
  await dialog.getByRole("button", { name: "Next" }).click();
  await dialog.getByLabel("Name").fill("nightly");
  await judge();
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByRole("button", { name: "Subscribe" }).waitFor();
  await judge();
  await dialog.getByRole("button", { name: "Subscribe" }).click();
  await dialog.getByText("Endpoint URL", { exact: true }).waitFor();
  await judge();
  expect(found).toEqual([]);
  const url = await dialog.locator(".mono").textContent();
  expect(url).toContain("/1.0.0/");
  await dialog.getByRole("link", { name: "Open the application" }).click();

  await page.getByRole("heading", { level: 1, name: "nightly" }).waitFor();
  const row = page.getByRole("row").filter({ hasText: "adding" });
  await row.getByText("Paid").waitFor();
  expect(await row.locator(".mono").textContent()).toBe(url);
  expect(complaints).toEqual([]);
});

test("what a provider writes runs nowhere on the pages of others", async () => {
  const { slug } = await world.createOrganisation("Careful");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/marketplace/${serviceKey}`);
  await page.getByRole("heading", { level: 2, name: "Adding" }).waitFor();
  expect(await page.title()).toBe(`${TITLE} · Platform`);
  expect(await page.locator(".prose :is(script, img)").count()).toBe(0);
  expect(await page.locator("a[href^='javascript']").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("a provider writes a listing beside what others will see of it, in which a script runs nowhere, and what cannot be saved is said at its field", async () => {
  const { page, open, complaints } = await world.visit();
  const slug = await readOwnSlug();
  await open(`/o/${slug}/services/${serviceKey}?tab=listing`);
  const preview = page.getByRole("article", { name: "Preview" });
  await preview.getByRole("heading", { name: "Adding" }).waitFor();
  expect(await preview.locator(".prose :is(script, img)").count()).toBe(0);
  await page.getByLabel("Contact").fill("nowhere");
  await page.getByLabel("Example input").fill('{"data": {"a": 1}, "params": ');
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => page.locator("[aria-invalid=true]").count()).toBe(2);
  await page.getByLabel("Contact").fill("https://adding.example/help");
  await page.getByRole("button", { name: "Use the example of the project" }).click();
  const example = await page.getByLabel("Example input").inputValue();
  expect(JSON.parse(example)).toMatchObject({ data: JSON.parse(EXAMPLE) as object });
  await page.getByLabel("Example input").fill('{"data": {"a": 1, "b": 2}}');
  await page.getByLabel("Summary").fill(`Sums <b onclick="alert(1)">of</b> numbers`);
  await page.getByRole("checkbox", { name: "Show others how it runs" }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await preview.getByText('Sums <b onclick="alert(1)">of</b> numbers').waitFor();
  // The preview shows what is typed, also before it is saved.
  const readSaved = async () => (await world.api<object>("GET", `/services/${serviceKey}/listing`)).body;
  await expect.poll(readSaved).toMatchObject({ sharesFigures: true });
  await page.getByRole("link", { name: "Open its page in the marketplace" }).click();
  await page.getByRole("heading", { level: 1, name: TITLE }).waitFor();
  await page.getByRole("link", { name: "https://adding.example/help" }).waitFor();
  expect(complaints).toEqual([]);
});

test("a provider makes a plan, changes its terms, withdraws it, and sees who has subscribed", async () => {
  const slug = await readOwnSlug();
  const { id } = await world.createOrganisation("Subscribing");
  await subscribeIn(id);
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/services/${serviceKey}?tab=plans`);
  await page.getByRole("button", { name: "New plan" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Team");
  await dialog.getByLabel("Name in URLs").fill("team");
  await dialog.getByLabel("Price per month").fill("a lot");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.locator("[aria-invalid=true]").waitFor();
  await dialog.getByLabel("Price per month").fill("25");
  await dialog.getByLabel("Currency").fill("EUR");
  await dialog.getByLabel("At most per month").fill("5000");
  await dialog.getByRole("button", { name: "Create" }).click();
  const row = page.getByRole("row").filter({ hasText: "Team" });
  await row.getByText("25 EUR a month").waitFor();
  await row.getByText("At most 5,000 executions a month").waitFor();
  await row.getByRole("button", { name: "Change" }).click();
  await dialog.getByLabel("Price per month").fill("30");
  await dialog.getByRole("button", { name: "Change" }).click();
  await row.getByText("30 EUR a month").waitFor();
  await row.getByRole("button", { name: "Withdraw" }).click();
  await dialog.getByRole("button", { name: "Withdraw" }).click();
  await row.waitFor({ state: "detached" });

  await page.getByRole("tab", { name: "Subscribers" }).click();
  const subscriber = page.getByRole("row").filter({ hasText: "Subscribing" });
  await subscriber.getByText("caller").waitFor();
  await subscriber.getByText("Active").waitFor();
  expect(complaints).toEqual([]);
});

/** Of the organisation that provides the service. */
async function readOwnSlug(): Promise<string> {
  const { body } = await world.api<{ organization: { slug: string } }>("GET", "/me");
  return body.organization.slug;
}

/** An application of an organisation that has subscribed to the service, as the environment of a client. */
async function subscribeIn(organization: string): Promise<Readonly<Record<string, string>>> {
  const post = async <T>(path: string, json: unknown = {}) =>
    await expectOk(
      request<T>("POST", `${world.login.apiUrl}/api${path}`, {
        token: world.login.personalAccessToken,
        headers: { "x-organizationid": organization },
        json,
      }),
    );
  const { id: applicationId } = await post<{ id: string }>("/applications", { name: "caller" });
  const key = await post<{ keyId: string; secret: string }>(`/applications/${applicationId}/access-keys`);
  await post("/subscriptions", { applicationId, serviceKey });
  return { PLATFORM_ACCESS_KEY_ID: key.keyId, PLATFORM_ACCESS_KEY_SECRET: key.secret };
}

test("a subscription has a page: it shows the URL of each version, changes its plan, is paused, and is removed; the program that it shows runs as it is copied", async () => {
  const { id, slug } = await world.createOrganisation("Changing");
  const environment = await subscribeIn(id);
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/applications`);
  await page.getByRole("link", { name: "caller" }).click();
  await page.getByRole("link", { name: "adding" }).click();
  await page.getByRole("heading", { level: 1, name: "adding for caller" }).waitFor();
  const urls = page.getByRole("table", { name: "Endpoint URLs" }).locator(".mono");
  await expect.poll(() => urls.count()).toBe(2);
  expect(new Set(await urls.allTextContents()).size).toBe(1);
  const shown = page.getByRole("region", { name: "Call in curl", exact: true });
  await shown.getByText(environment["PLATFORM_ACCESS_KEY_ID"] ?? "").waitFor();
  const output = await runOk(["sh", "-c", (await shown.textContent()) ?? ""], {
    cwd: world.directory,
    environment,
  });
  expect(JSON.parse(output)).toMatchObject({ result: { value: 3 } });
  await page.getByRole("button", { name: "OpenAPI document" }).waitFor();
  await page.getByRole("button", { name: "Change", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Plan").click();
  await page.getByRole("option", { name: /^Paid/u }).click();
  await dialog.getByRole("switch", { name: "The provider may read the logs" }).check();
  await dialog.getByRole("button", { name: "Change" }).click();
  await page.getByText("10 EUR a month + 0.0025 EUR an execution").waitFor();
  await page.getByText("0 of 1,000").waitFor();
  await page.getByText("the provider may read them").waitFor();
  await dialog.waitFor({ state: "detached" });
  // A plan that is named again is changed to the terms that it has by then.
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await dialog.getByRole("switch", { name: "The provider may read the logs" }).uncheck();
  const [sent] = await Promise.all([
    page.waitForRequest((one) => one.method() === "PUT"),
    dialog.getByRole("button", { name: "Change" }).click(),
  ]);
  expect(sent.postDataJSON()).toEqual({ sharesLogs: false });
  await page.getByText("are not shown to the provider").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Resume" }).waitFor();
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await dialog.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByRole("heading", { name: "No subscriptions" }).waitFor();
  expect(complaints).toEqual([]);
});

test.for(LANGUAGES)(
  "the %s ZIP downloaded from the details page compiles and calls the service",
  async ([label, language], { skip }) => {
    const { id, slug } = await world.createOrganisation(`Programming in ${label}`);
    const environment = await subscribeIn(id);
    const { page, open, complaints } = await world.visit();
    await open(`/o/${slug}/marketplace/${serviceKey}?tab=clients`);
    const { name, path } = await saveFile(page, label);
    expect([name, complaints]).toEqual([`adding-1.0.0-${language}.zip`, []]);
    const built = needClient(await buildClient(language, path, join(world.directory, language)), skip);
    const output = await runOk(built.example, { cwd: built.folder, environment });
    expect(JSON.parse(output)).toEqual({ value: 3 });
  },
);

test("the OpenAPI document is downloaded from the page", async () => {
  const { slug } = await world.createOrganisation("Generating");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/marketplace/${serviceKey}?tab=clients`);
  const { path } = await saveFile(page, "OpenAPI document");
  expect(JSON.parse(await readFile(path, "utf8"))).toHaveProperty("openapi");
  expect(complaints).toEqual([]);
});

test("the curl, Python, JavaScript and Java of the API tab run as they are copied, and give the same result", async () => {
  const { body: me } = await world.api<{ organization: { id: string; slug: string } }>("GET", "/me");
  const environment = await subscribeIn(me.organization.id);
  const { page, open, complaints } = await world.visit();
  await open(`/o/${me.organization.slug}/services/${serviceKey}?tab=api`);
  const copy = async (label: string) => {
    await page.getByRole("tab", { name: label, exact: true }).click();
    const shown = page.getByRole("region", { name: `Call in ${label}`, exact: true });
    await shown.getByText(environment["PLATFORM_ACCESS_KEY_ID"] ?? "").waitFor();
    const program = (await shown.textContent()) ?? "";
    expect(program).not.toContain(environment["PLATFORM_ACCESS_KEY_SECRET"]);
    // The example of the project, which gives the same sum as that of the listing.
    expect(program).toContain("$HOME");
    return program;
  };
  const hasJava = "folder" in (await install("java"));
  const results: unknown[] = [];
  for (const language of SHOWN_LANGUAGES) {
    const program = await copy(language);
    if (language === "Java" && !hasJava) continue;
    results.push(await runShownOk(language, program, world.directory, environment));
  }
  expect(results).toHaveLength(SHOWN_LANGUAGES.length - (hasJava ? 0 : 1));
  for (const answer of results) expect(answer).toMatchObject({ result: { value: 3 } });

  await page.getByRole("switch", { name: "Webhook" }).check();
  const url = page.getByLabel("URL that is told the end");
  await url.fill("nowhere");
  await page.getByText("A URL with http:// or https:// is needed.").waitFor();
  await url.fill("https://hooks.example/it's?a=1&b=2");
  for (const label of ["Python", "JavaScript", "Java"]) {
    await page.getByRole("tab", { name: label, exact: true }).click();
    await page
      .getByRole("region", { name: `Call in ${label}`, exact: true })
      .getByText("webhookUrl")
      .waitFor();
    await page
      .getByRole("region", { name: `Receiver in ${label}`, exact: true })
      .getByText("WEBHOOK_SECRET")
      .waitFor();
  }
  await page.getByRole("link", { name: "Webhooks of caller" }).click();
  await page.getByText("No webhooks").waitFor();
  expect(complaints).toEqual([]);
});

test(
  "a service that is not published is run and has clients, and is published and subscribed to from its API tab",
  { tags: "full" },
  async () => {
    const slug = await readOwnSlug();
    await world.api("POST", "/applications", { name: "of its own" });
    const { serviceKey: key } = await world.deploy(
      await world.createProject("unpublished", PROGRAM, { "input/data.json": EXAMPLE }),
    );
    const { page, open, complaints } = await world.visit();
    await open(`/o/${slug}/services/${key}?tab=api`);
    const command = page.getByRole("region", { name: "Command that starts it as a job" });
    await command.getByText("platform run unpublished").waitFor();
    await expect.poll(() => command.textContent()).toContain("it'\\''s");
    const folder = join(world.directory, "unpublished-clients");
    await mkdir(folder);
    for (const [label, language] of LANGUAGES) {
      const { name, path } = await saveFile(page, label);
      const line =
        (await page.getByText(`platform clients ${key} --language ${language} --version`).textContent()) ??
        "";
      const { code, stderr } = await world.cli(folder, ...line.split(" ").slice(1));
      expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
      expect((await readFile(join(folder, name))).equals(await readFile(path))).toBe(true);
    }
    const shown = page.getByRole("region", { name: "command that installs it for JavaScript" });
    await runOk(["sh", "-c", (await shown.textContent()) ?? ""], { cwd: folder });
    expect(await readdir(join(folder, "node_modules"))).toContain("unpublished-client");
    await page.getByRole("button", { name: "Publish and subscribe" }).click();
    const dialog = page.getByRole("dialog", { name: /^Subscribe to/u });
    await dialog.getByRole("button", { name: "Subscribe" }).click();
    await dialog.getByText("Endpoint URL", { exact: true }).waitFor();
    await dialog.getByRole("link", { name: "The page of the subscription" }).click();
    await page.getByRole("heading", { level: 2, name: "Clients of version 1.0.0" }).waitFor();
    await open(`/o/${slug}/services/${key}?tab=api`);
    await page.getByRole("region", { name: "Call in curl" }).getByText("/unpublished/1.0.0/").waitFor();
    const service = await world.api("GET", `/services/${key}`);
    expect([service.body, complaints]).toEqual([expect.objectContaining({ publication: "internal" }), []]);
  },
);

test("filters that match nothing are taken out by one button, and a tag by its own", async () => {
  const { slug } = await world.createOrganisation("Searching");
  const { page, open } = await world.visit();
  await open(`/o/${slug}/marketplace?q=nothing-of-this-name&tag=numbers`);
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByRole("link", { name: TITLE }).waitFor();
  expect(await page.getByRole("searchbox").inputValue()).toBe("");
  await page.getByRole("link", { name: "numbers", exact: true }).click();
  await page.getByRole("button", { name: "Remove the tag numbers" }).click();
  await page.waitForURL(new RegExp(`/o/${slug}/marketplace$`, "u"));
});

test("search field, filter and order show what the address says, also after Back and Forward; a card says what it costs at least", async () => {
  const { slug } = await world.createOrganisation("Going back");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/marketplace?sort=price&tag=numbers`);
  await page.getByText("1 service, the lowest price first").waitFor();
  await page.getByText("Free, or paid plans").waitFor();
  const field = page.getByRole("searchbox", { name: "Search the marketplace" });
  const free = page.getByRole("checkbox", { name: "With a free plan" });
  const order = page.getByRole("combobox", { name: "Order" });
  const read = async () => [await field.inputValue(), await free.isChecked(), await order.inputValue()];
  expect(await read()).toEqual(["", false, "By price"]);
  await field.fill("sums");
  await free.check();
  await page.waitForURL(/q=sums.*price=free|price=free.*q=sums/u);
  await page.getByRole("link", { name: "numbers", exact: true }).click();
  await expect.poll(read).toEqual(["", false, "Newest first"]);
  await page.goBack();
  await expect.poll(read).toEqual(["sums", true, "By price"]);
  await page.goForward();
  await expect.poll(read).toEqual(["", false, "Newest first"]);
  await order.click();
  await page.getByRole("option", { name: "By title" }).click();
  await page.waitForURL(/sort=name/u);
  await page.getByText("1 service, by title").waitFor();
  expect(complaints).toEqual([]);
});
