import type { Page as BrowserPage } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, request } from "../../../tools/platform-client.ts";
import { inviteMember } from "./support/people.ts";
import { joinConsole } from "./support/open-console.ts";
import { openDatabase } from "./support/open-database.ts";
import type { ConsoleWorld, Visit } from "./support/open-console.ts";
import { readWhy } from "./support/read-why.ts";

const PROGRAM = `
def run(data, params):
    if params.get("fails"):
        raise ValueError("<img src=x onerror=alert(1)>")
    return {"n": params.get("n")}
`;
const SUCCEEDED = 58;
const FAILED = 5;
const HOUR_MS = 3_600_000;

interface Page {
  readonly items: readonly { readonly id: string; readonly status: string }[];
  readonly nextCursor: string | null;
}

/** Of what is listed: "today" of the pages, also where midnight has passed meanwhile. */
let began = 0;
let world: ConsoleWorld;
let slug: string;
let serviceKey: string;

beforeAll(async () => {
  world = await joinConsole();
  const me = await world.api<{ organization: { slug: string } }>("GET", "/me");
  slug = me.body.organization.slug;
  const deployed = await world.deploy(await world.createProject("counting", PROGRAM));
  serviceKey = deployed.serviceKey;
  began = Date.now();
  const items = [
    ...Array.from({ length: SUCCEEDED }, (_, n) => ({ params: { n } })),
    ...Array.from({ length: FAILED }, () => ({ params: { fails: true } })),
  ];
  await expectOk(world.api("POST", `/jobs/batch?serviceKey=${serviceKey}`, { items }));
});
afterAll(() => world?.close());

async function count(query: string): Promise<number> {
  const { body } = await world.api<{ total: number }>("GET", `/executions/counts?${query}`);
  return body.total;
}

async function listAll(query: string): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor = "";
  do {
    const { body } = await world.api<Page>("GET", `/executions?${query}${cursor}`);
    ids.push(...body.items.map(({ id }) => id));
    cursor = body.nextCursor === null ? "" : `&cursor=${encodeURIComponent(body.nextCursor)}`;
  } while (cursor !== "");
  return ids;
}

/** One more, which has ended, in a later second than the newest of the others: addresses have whole seconds. */
async function startLate(newest: string): Promise<{ readonly id: string; readonly createdAt: string }> {
  const read = async (id: string) =>
    (await world.api<{ id: string; createdAt: string; terminal: boolean }>("GET", `/executions/${id}`)).body;
  const { createdAt } = await read(newest);
  await expect.poll(() => new Date().toISOString().slice(0, 19).replace("T", " ") > createdAt).toBe(true);
  const path = `/jobs?serviceKey=${serviceKey}`;
  const { id } = await expectOk(world.api<{ id: string }>("POST", path, { params: { fails: true } }));
  await expect.poll(async () => (await read(id)).terminal).toBe(true);
  return await read(id);
}

/** Of the executions: the bars above them are a table as well. */
const listRows = (page: BrowserPage) =>
  page.getByRole("table", { name: "Executions", exact: true }).locator("tbody tr");

test("executions filtered by state and time match the API's answer, page to the end, and survive Back", async () => {
  await expect.poll(() => count("status=PENDING&status=RUNNING")).toBe(0);
  const { page, open, complaints } = await world.visit();
  await page.clock.setSystemTime(began);
  const rows = listRows(page);
  const shownIds = () => rows.evaluateAll((all) => all.map((row) => row.getAttribute("data-key")));

  await open(`/o/${slug}/executions?status=FAILED`);
  expect(await shownIds()).toEqual(await listAll("status=FAILED"));
  expect(await rows.count()).toBe(FAILED);

  await page.getByRole("button", { name: "Clear filters" }).click();
  const all = await listAll("");
  const more = page.getByRole("button", { name: "Load more" });
  await expect.poll(() => rows.count()).toBeGreaterThan(FAILED);
  while ((await more.count()) > 0) {
    const before = await rows.count();
    await more.click();
    await expect.poll(() => rows.count()).toBeGreaterThan(before);
  }
  expect(await shownIds()).toEqual(all);

  await page.getByRole("button", { name: "Failed today" }).click();
  await expect.poll(() => rows.count()).toBe(FAILED);
  const filtered = page.url();
  await rows.first().getByRole("link").first().click();
  await page.getByText("EXECUTION_ERROR").first().waitFor();
  await page.goBack();
  await expect.poll(() => rows.count()).toBe(FAILED);
  expect(page.url()).toBe(filtered);
  await page.reload();
  await expect.poll(() => rows.count()).toBe(FAILED);

  const { id: late, createdAt } = await startLate(all[0] ?? "");
  const at = encodeURIComponent(createdAt);
  await open(`/o/${slug}/executions?after=${at}`);
  await expect.poll(shownIds).toEqual([late]);
  await open(`/o/${slug}/executions?before=${at}`);
  await expect.poll(() => rows.count()).toBeGreaterThan(FAILED);
  expect(await shownIds()).toEqual(all.slice(0, await rows.count()));
  await open(`/o/${slug}/executions?after=2999-01-01+00%3A00%3A00`);
  await page.getByText("No execution matches").waitFor();
  expect(complaints).toEqual([]);
});

test("reloading keeps organisation, filters, tab and selection, and the same address shows the same to a colleague", async () => {
  await expect.poll(() => count("status=PENDING&status=RUNNING")).toBe(0);
  const me = await world.api<{ organization: { id: string } }>("GET", "/me");
  const colleague = await inviteMember(world, me.body.organization.id, "viewer");
  const mine = await world.visit();
  const theirs = await world.visit({ as: colleague });
  const [first = "", second = ""] = await listAll("status=FAILED");
  const addresses = [
    [`/o/${slug}/executions?status=FAILED`, listRows, "data-key"],
    [
      `/o/${slug}/executions/${first}?tab=facts`,
      (page: BrowserPage) => page.getByRole("tab", { selected: true }),
      null,
    ],
    [
      `/o/${slug}/executions/compare?a=${first}&b=${second}`,
      (page: BrowserPage) => page.getByRole("main").getByRole("link"),
      "href",
    ],
  ] as const;
  for (const [address, locate, attribute] of addresses) {
    const read = ({ page }: Visit) =>
      locate(page).evaluateAll(
        (all, name) => all.map((one) => (name === null ? one.textContent : one.getAttribute(name))),
        attribute,
      );
    await mine.open(address);
    await expect.poll(async () => (await read(mine)).length).toBeGreaterThan(0);
    const shown = await read(mine);
    await mine.page.reload();
    await expect.poll(() => read(mine)).toEqual(shown);
    await theirs.open(mine.page.url());
    await expect.poll(() => read(theirs)).toEqual(shown);
    const { pathname, searchParams } = new URL(mine.page.url());
    expect([pathname, ...searchParams.keys()]).toEqual([
      address.replace(/\?.*/u, ""),
      ...new URL(address, mine.page.url()).searchParams.keys(),
    ]);
  }
});

test("logs of which only the last lines are compared are not said to be the same", async () => {
  await expect.poll(() => count("status=SUCCEEDED")).toBe(SUCCEEDED);
  const [a, b] = await listAll("status=SUCCEEDED");
  const { page, open, complaints } = await world.visit();
  const compare = `/o/${slug}/executions/compare?a=${a}&b=${b}`;
  await open(compare);
  await page.getByText("Both have written the same.").waitFor();
  const items = Array.from({ length: 2_000 }, (_, line) => ({
    seq: `1-${line}`,
    timestamp: "2026-01-01 00:00:00",
    severity: "INFO",
    message: `line ${line}`,
  }));
  await page.route(/\/log\?/u, (route) => route.fulfill({ json: { items, nextSeq: null } }));
  await open(compare);
  await page.getByText("The last 2,000 lines of both are the same. Those before them").waitFor();
  expect(complaints).toEqual([]);
});

/** As if it had been created two hours before: in the hour of the others there would be none that is outside. */
async function moveBack(id: string): Promise<void> {
  const database = await openDatabase(world);
  await database.query("update execution set created_at = created_at - interval '2 hours' where id = $1", [
    id,
  ]);
}

test("the histogram counts what there is, and a row of its table becomes the filter", async () => {
  const [earlier = ""] = await listAll("");
  await moveBack(earlier);
  const { page, open } = await world.visit();
  await open(`/o/${slug}/executions`);
  const total = await count("");
  await page.getByRole("img", { name: new RegExp(`^${total} executions created`, "u") }).waitFor();
  await page.getByText("Show as table").click();
  await page.getByRole("button", { name: "Show only these" }).first().click();
  await expect.poll(() => new URL(page.url()).searchParams.get("before")).not.toBeNull();
  const { searchParams } = new URL(page.url());
  const [after = "", before = ""] = ["after", "before"].map((name) => searchParams.get(name) ?? "");
  const ofHour = await listAll(
    new URLSearchParams({ createdAfter: after, createdBefore: before }).toString(),
  );
  expect(ofHour).not.toContain(earlier);
  const shownIds = () => listRows(page).evaluateAll((all) => all.map((row) => row.getAttribute("data-key")));
  await expect.poll(async () => (await shownIds()).includes(earlier)).toBe(false);
  await expect.poll(async () => (await shownIds())[0]).toBe(ofHour[0]);

  // Without a first day, it is the day before the last one that is counted.
  await open(`/o/${slug}/executions?before=2026-01-01+00%3A00%3A00`);
  await page
    .getByRole("img", { name: "0 executions created in the 24 hours before that, by hour" })
    .waitFor();
});

test("cancelling all that match the filter cancels as many as the dialog said, and not one of another organisation", async () => {
  await expectOk(world.api("POST", `/services/${serviceKey}/publish`, { scope: "marketplace" }));
  const other = await world.createOrganisation("Other");
  const startAt = new Date(Date.now() + HOUR_MS).toISOString();
  const asOther = <T>(method: string, path: string, json: unknown) =>
    expectOk(
      request<T>(method, `${world.login.apiUrl}/api${path}`, {
        token: world.login.personalAccessToken,
        headers: { "x-organizationid": other.id },
        json,
      }),
    );
  const { id: applicationId } = await asOther<{ id: string }>("POST", "/applications", { name: "theirs" });
  const subscription = await asOther<{ id: string }>("POST", "/subscriptions", {
    applicationId,
    serviceKey,
    planId: "free",
  });
  const theirs = await asOther<{ id: string }>("POST", `/subscriptions/${subscription.id}/executions`, {
    startAt,
  });
  for (let index = 0; index < 3; index += 1)
    await expectOk(world.api("POST", `/jobs?serviceKey=${serviceKey}`, { startAt }));
  // The list shows theirs as well: it is an incoming one.
  expect(await count("status=PENDING")).toBe(4);

  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/executions?status=PENDING`);
  await page.getByRole("button", { name: "Cancel all that match" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel all that match" });
  await dialog.getByText("3 executions of").waitFor();
  await dialog.getByRole("button", { name: "Cancel 3" }).click();
  await page.getByText("3 cancelled.").waitFor();
  expect(await listAll("status=PENDING")).toEqual([theirs.id]);
  expect(await count("code=CANCELLED")).toBe(3);
  await dialog.waitFor({ state: "detached" });
  const button = page.getByRole("button", { name: "Cancel all that match" });
  await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
  expect(await readWhy(button, "Cancel all that match")).toBe(
    "Nothing that the filter matches waits or runs.",
  );
  // Its address may have been kept.
  await open(`/o/${slug}/executions?status=PENDING&cancel=all`);
  const nothing = `Nothing that the filter matches waits or runs in ${slug}.`;
  await dialog.getByRole("status").getByText(nothing).waitFor();
  expect(await readWhy(dialog.getByRole("button", { name: "Cancel them" }), "Cancel them")).toBe(nothing);
  expect(complaints).toEqual([]);
});

test("the link printed by `platform run` opens the job, whichever organisation was open", async () => {
  const elsewhere = await world.createOrganisation("Elsewhere");
  const project = `${world.directory}/counting`;
  const ran = await world.cli(project, "run", "--detached");
  const link = /https?:\S+\/jobs\/\S+/u.exec(ran.stdout)?.[0] ?? "";
  const { page, open } = await world.visit();
  await open(`/o/${elsewhere.slug}`);
  await page.goto(link);
  await page.getByRole("heading", { level: 1, name: /^counting /u }).waitFor();
  const id = link.slice(link.lastIndexOf("/") + 1);
  expect(new URL(page.url()).pathname).toBe(`/o/${slug}/executions/${id}`);
  await open("/executions/00000000-0000-7000-8000-000000000000");
  await page.getByRole("heading", { name: "Not found" }).waitFor();
});
