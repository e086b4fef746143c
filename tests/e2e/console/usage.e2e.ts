import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, request } from "../../../tools/platform-client.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { waitForFrames } from "./support/settled.ts";

const PROGRAM = `
def run(data):
    return data
`;
/** A name that is markup, and a formula to a spreadsheet. */
const NAME = '=1+1 <img src=x onerror="document.title=1">';
const MONTH = "from=2026-02-01&to=2026-02-28";
const DAYS = 20;
const PER_EXECUTION = 0.0025;
const NUMBERS = ["Executions", "Succeeded", "Failed", "Unknown", "Not charged", "CPU-seconds", "GB-seconds"];

let world: ConsoleWorld;
let database: Client;
let provider: string;
let customer: { readonly id: string; readonly slug: string };
let serviceKey: string;

beforeAll(async () => {
  world = await joinConsole();
  database = new Client({
    host: join(world.dataDirectory, "postgres", "socket"),
    user: "platform",
    database: "platform",
  });
  database.on("error", () => undefined);
  await database.connect();
  const me = await world.api<{ organization: { id: string; slug: string } }>("GET", "/me");
  provider = me.body.organization.slug;
  ({ serviceKey } = await world.deploy(await world.createProject("counting", PROGRAM)));
  const plan = { name: "Paid", currency: "EUR", perExecution: String(PER_EXECUTION) };
  await expectOk(world.api("PUT", `/services/${serviceKey}/plans/paid`, plan));
  await expectOk(world.api("POST", `/services/${serviceKey}/publish`, { scope: "marketplace" }));
  customer = await world.createOrganisation("Customer");
  const asCustomer = <T>(path: string, json: unknown) =>
    expectOk(
      request<T>("POST", `${world.login.apiUrl}/api${path}`, {
        token: world.login.personalAccessToken,
        headers: { "x-organizationid": customer.id },
        json,
      }),
    );
  const { id: applicationId } = await asCustomer<{ id: string }>("/applications", { name: NAME });
  const { id } = await asCustomer<{ id: string }>("/subscriptions", {
    applicationId,
    serviceKey,
    planId: "paid",
  });
  await seedMonth(id, customer.id, "(select plan_id from subscription_term where subscription_id = $1)");
  // Jobs of the provider, which are no use by subscribers.
  await seedMonth(me.body.organization.id, me.body.organization.id, "null");
});
afterAll(async () => {
  await database?.end();
  await world?.close();
});

/** Lines of twenty days, as the platform keeps them. */
async function seedMonth(ownerId: string, organisationId: string, plan: string): Promise<void> {
  await database.query(
    `insert into usage_day (day, organisation_id, owner_id, version_id, plan_id, succeeded, failed, unknown, uncounted, cpu_micros, gb_micros)
      select '2026-02-01'::date + n, $2, $1, v.id, ${plan}, 100 + n * 37, n, n % 3, n % 2, 1234567 * (n + 1), 7654321 * (n + 1)
      from generate_series(1, ${DAYS}) n, version v where v.service_key = $3`,
    [ownerId, organisationId, serviceKey],
  );
}

type Sums = Readonly<Record<string, number>>;

/** Of one owner's organisation, in the seeded month. */
async function readSums(organisationId: string): Promise<Sums> {
  const { rows } = await database.query<Sums>(
    `select sum(succeeded + failed + unknown)::float8 as "Executions", sum(succeeded)::float8 as "Succeeded",
        sum(failed)::float8 as "Failed", sum(unknown)::float8 as "Unknown", sum(uncounted)::float8 as "Not charged",
        (sum(cpu_micros) * 0.000001)::float8 as "CPU-seconds", (sum(gb_micros) * 0.000001)::float8 as "GB-seconds"
      from usage_day where organisation_id = $1 and day between '2026-02-01' and '2026-02-28'`,
    [organisationId],
  );
  return rows[0] ?? {};
}

const roundToHundredths = (value: number) => Math.round(value * 100) / 100;
const toNumber = (text: string | null | undefined) => Number((text ?? "").replaceAll(",", ""));

for (const side of ["consumer", "provider"] as const)
  test(`the figures of a seeded month equal the sums in the database: ${side}`, async () => {
    const { page, open, complaints } = await world.visit();
    // Both see the same: what the customer's subscription has used.
    const org = side === "consumer" ? customer.slug : provider;
    const sums = await readSums(customer.id);
    await open(`/o/${org}/usage?${MONTH}&side=${side}`);
    const shown = page.getByRole("region", { name: "Sums" });
    for (const name of NUMBERS) {
      const figure = shown.getByText(name, { exact: true }).locator("xpath=following-sibling::*");
      const text = await figure.textContent();
      const shownNumbers = [text, (await figure.getAttribute("title")) ?? text].map(toNumber);
      const exact = sums[name] ?? 0;
      expect([name, ...shownNumbers]).toEqual([name, roundToHundredths(exact), exact]);
    }
    const charged = (sums["Executions"] ?? 0) - (sums["Not charged"] ?? 0);
    const cost = Number((charged * PER_EXECUTION).toFixed(4));
    await shown.getByText(`${roundToHundredths(cost)} EUR`, { exact: true }).waitFor();
    await shown.getByTitle(`${cost} EUR`, { exact: true }).waitFor();
    await shown.getByText("Rounded to hundredths: the table below has all digits.").waitFor();

    const rows = page.getByRole("table", { name: "Usage" }).locator("tbody tr");
    expect(await rows.count()).toBe(DAYS);
    for (const name of NUMBERS) {
      const cells = await rows.locator(`td[data-label="${name}"]`).allTextContents();
      const total = cells.reduce((sum, cell) => sum + toNumber(cell), 0);
      expect([name, Number(total.toFixed(6))]).toEqual([name, sums[name]]);
    }
    await page
      .getByRole("img", { name: /^Executions: most 862/u })
      .locator("svg path")
      .first()
      .waitFor();
    await page
      .getByRole("img", { name: /^Cost in EUR/u })
      .locator("svg path")
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  });

test("an execution that has just ended is counted today, without a reload, and its day leads to it", async () => {
  const org = await world.createOrganisation("Beginning");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${org.slug}/usage`);
  await page.getByRole("heading", { name: /^Nothing was used from/u }).waitFor();
  await page.getByRole("button", { name: "Show the last 365 days" }).click();
  await page.waitForURL(/from=\d{4}-\d\d-\d\d/u);
  await page.getByRole("heading", { name: /^Nothing was used from/u }).waitFor();
  await page.close();

  // The job may be of the next day.
  const day = new Date().toISOString().slice(0, 10);
  await world.cli(join(world.directory, "counting"), "run");
  const own = await world.visit();
  await own.open(`/o/${provider}/usage?from=${day}`);
  await own.page.getByRole("link", { name: /^Jobs of \d{4}-\d\d-\d\d$/u }).click();
  await own.page.getByRole("heading", { level: 1, name: "Executions" }).waitFor();
  expect(new URL(own.page.url()).searchParams.get("kind")).toBe("job");
  await own.page
    .getByRole("table", { name: "Executions", exact: true })
    .getByText("counting")
    .first()
    .waitFor();
  expect([...complaints, ...own.complaints]).toEqual([]);
});

test("the file has the numbers of the table and the columns of the CLI, and no formula", async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${customer.slug}/usage?${MONTH}&by=application`);
  await page.getByRole("table", { name: "Usage" }).getByText(NAME).waitFor();
  expect(await page.title()).toBe("Usage · Platform");
  expect(await page.locator("main img:not([role])").count()).toBe(0);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as CSV" }).click(),
  ]);
  const [names, line, ...more] = (await readFile(await download.path(), "utf8")).trimEnd().split("\r\n");
  expect(names).toBe(
    "key,label,executions,succeeded,failed,unknown,notCharged,cpuSeconds,gbSeconds,cost EUR",
  );
  expect(line).toContain(`"'${NAME.replaceAll('"', '""')}",`);
  expect(line).toContain(`,${(await readSums(customer.id))["Executions"] ?? ""},`);
  expect(more).toEqual([]);
  expect(complaints).toEqual([]);
});

test("days that cannot be added up are explained, and what is chosen is in the URL", async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${customer.slug}/usage?from=2026-03-01&to=2026-02-01`);
  await page.getByText("The first day is after the last one.").waitFor();
  await page.getByLabel("First day").fill("2026-02-01");
  await page.waitForURL(/from=2026-02-01/u);
  await page.getByLabel("Last day").fill("2026-02-28");
  await page.getByRole("table", { name: "Usage" }).waitFor();
  await page.getByRole("tab", { name: "Used of our services" }).click();
  await page.getByRole("heading", { name: "Nothing was used from 2026-02-01 to 2026-02-28" }).waitFor();
  expect(new URL(page.url()).searchParams.get("side")).toBe("provider");
  await page.goBack();
  await page.getByRole("table", { name: "Usage" }).waitFor();
  expect(complaints).toEqual([]);
});

test("a page that stays open over midnight shows the former days until the next ones are there", async () => {
  const { slug } = await world.createOrganisation("Awake");
  const { page, open, complaints } = await world.visit();
  const day = new Date().toISOString().slice(0, 10);
  await page.clock.install({ time: `${day}T23:59:30Z` });
  await open(`/o/${slug}/usage`);
  const lastDay = () => page.getByLabel("Last day").inputValue();
  expect(await lastDay()).toBe(day);

  const held: (() => void)[] = [];
  await page.route(/\/api\/usage\?/u, async (request) => {
    await new Promise<void>((release) => held.push(release));
    await request.continue();
  });
  await page.clock.fastForward(60_000);
  await expect.poll(() => held.length).toBeGreaterThan(0);
  await waitForFrames(page);
  expect(await page.getByRole("heading", { level: 1, name: "Usage" }).isVisible()).toBe(true);
  expect(await lastDay()).toBe(day);
  const answer = async () => {
    for (const release of held.splice(0)) release();
    return await lastDay();
  };
  await expect.poll(answer).not.toBe(day);
  expect(complaints).toEqual([]);
});
