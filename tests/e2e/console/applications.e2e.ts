import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../../tools/platform-client.ts";
import { findBarriers, findCutText, judgeDialog } from "./support/axe.ts";
import { inviteMember } from "./support/people.ts";
import { WIDTHS } from "./support/browser.ts";
import { joinConsole } from "./support/open-console.ts";
import { findTraces } from "./support/traces.ts";
import type { ConsoleWorld } from "./support/open-console.ts";

const ADDING = `
def run(data: dict[str, int]) -> int:
    """Adds up."""
    print("adds <img src=x onerror=alert(1)> up")
    return sum(data.values())
`;

let world: ConsoleWorld;
/** Of the first login's organisation, in the marketplace. */
let serviceKey: string;
beforeAll(async () => {
  world = await joinConsole();
  ({ serviceKey } = await world.deploy(await world.createProject("adding", ADDING)));
  const calls = [
    ["PUT", "/listing", { title: "Adding", exampleInput: { data: { a: 1, b: 2 } } }],
    ["PUT", "/plans/once", { name: "once", limits: { perMonth: 1 } }],
    ["PUT", "/plans/slowly", { name: "slowly", limits: { perMinute: 1 } }],
    ["PUT", "/plans/freely", { name: "freely" }],
    ["POST", "/publish", { scope: "marketplace" }],
  ] as const;
  for (const [method, path, body] of calls) {
    const { status } = await world.api(method, `/services/${serviceKey}${path}`, body);
    if (status >= 300) throw new Error(`${method} ${path} was answered ${status}`);
  }
});
afterAll(() => world.close());

/** What the platform API answers to the first login in an organisation. */
async function call<T>(organizationId: string, method: string, path: string, json?: unknown): Promise<T> {
  const { body } = await request<T>(method, `${world.login.apiUrl}/api${path}`, {
    token: world.login.personalAccessToken,
    headers: { "x-organizationid": organizationId },
    ...(json === undefined ? {} : { json }),
  });
  return body;
}

interface Key {
  readonly keyId: string;
  readonly secret: string;
}

/** What the gateway answers to who exchanges a key for a token. */
function exchange({ keyId, secret }: Key) {
  return request<{ readonly access_token: string }>("POST", `${world.login.gatewayUrl}/token`, {
    headers: { authorization: `Basic ${btoa(`${keyId}:${secret}`)}` },
    body: new URLSearchParams({ grant_type: "client_credentials" }),
  });
}

async function fetchToken(key: Key): Promise<number> {
  return (await exchange(key)).status;
}

test("an application is created, and its key's secret is shown once: not after a reload, nor in a later answer, and nothing of the page keeps it", async () => {
  const { slug } = await world.createOrganisation("Once");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/applications`);
  await page.getByRole("button", { name: "New application" }).first().click();
  await page.getByLabel("Name").fill("nightly batch");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "nightly batch" }).waitFor();

  await page.getByRole("tab", { name: "Keys" }).click();
  const answers: string[] = [];
  page.on("response", (response) => {
    if (response.request().method() === "GET")
      void response.text().then(
        (text) => answers.push(text),
        () => undefined,
      );
  });
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "The new access key" });
  await dialog.waitFor();
  const [keyId = "", secret = ""] = await dialog.locator("dd .mono").allTextContents();
  expect(await fetchToken({ keyId, secret })).toBe(200);
  expect(await judgeDialog(page)).toEqual([]);
  // The names that the downloaded clients read (clients/python/platform_client/client.py).
  const file = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download platform.env" }).click();
  expect(await readFile(await (await file).path(), "utf8")).toBe(
    `PLATFORM_ACCESS_KEY_ID=${keyId}\nPLATFORM_ACCESS_KEY_SECRET=${secret}\n`,
  );

  await page.keyboard.press("Escape");
  expect(await dialog.isVisible()).toBe(true);
  expect(await findTraces(page, secret)).toEqual(["document", "heap"]);
  await dialog.getByLabel("I have stored it").check();
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("cell", { name: keyId }).waitFor();
  await expect.poll(() => findTraces(page, secret)).toEqual([]);
  await page.reload();
  await page.getByRole("cell", { name: keyId }).waitFor();
  expect(await page.content()).not.toContain(secret);
  expect(answers.filter((text) => text.includes(secret))).toEqual([]);
  expect(complaints).toEqual([]);
});

/** Rotates a key on the page of its application. */
async function rotate(page: Page, { keyId: former }: Key): Promise<Key> {
  await page.getByRole("row").filter({ hasText: former }).getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  const dialog = page.getByRole("dialog", { name: "The new access key" });
  await dialog.waitFor();
  const [keyId = "", secret = ""] = await dialog.locator("dd .mono").allTextContents();
  await dialog.getByLabel("I have stored it").check();
  await dialog.getByRole("button", { name: "Close" }).click();
  return { keyId, secret };
}

/** Lets the 24 hours be over for which a rotated key goes on. Nobody is told, as when they are over by themselves. */
async function endGrace({ keyId }: Key): Promise<void> {
  const host = join(world.dataDirectory, "postgres", "socket");
  const database = new Client({ host, user: "platform", database: "platform" });
  await database.connect();
  try {
    const { rowCount } = await database.query(
      `update access_key set expires_at = now()
        where id = $1 and expires_at - now() between interval '23 hours' and interval '24 hours'`,
      [keyId],
    );
    expect(rowCount).toBe(1);
  } finally {
    await database.end();
  }
}

test("a rotated key and its predecessor both work until the grace ends, and then only the new one; a revoked one fails within seconds", async () => {
  const { id: organisation, slug } = await world.createOrganisation("Rotation");
  const { id: subscription, applicationId } = await subscribe(organisation, "caller", "freely");
  const { endpointUrl } = await call<{ endpointUrl: string }>(
    organisation,
    "GET",
    `/subscriptions/${subscription}`,
  );
  const callWith = async (token: string) => (await request("GET", endpointUrl, { token })).status;
  const first = await call<Key>(organisation, "POST", `/applications/${applicationId}/access-keys`);
  const { access_token: token } = (await exchange(first)).body;
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/applications/${applicationId}?tab=keys`);
  const second = await rotate(page, first);
  const row = ({ keyId }: Key) => page.getByRole("row").filter({ hasText: keyId });
  await row(first).getByText("Replaced").waitFor();
  expect([await fetchToken(first), await callWith(token), await fetchToken(second)]).toEqual([200, 200, 200]);
  await endGrace(first);
  // The gateway knows keys for five seconds, in which it would refuse who asks too often.
  await expect.poll(() => fetchToken(first), { interval: 200 }).toBe(401);
  await expect.poll(() => callWith(token), { interval: 200 }).toBe(401);
  expect(await fetchToken(second)).toBe(200);
  await page.reload();
  await row(first).getByText("Expired").waitFor();
  expect(
    await row(first)
      .getByRole("button", { name: /Rotate|Revoke/u })
      .count(),
  ).toBe(0);

  const third = await rotate(page, second);
  expect([await fetchToken(second), await fetchToken(third)]).toEqual([200, 200]);
  await row(second).getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row(second).getByText("Revoked").waitFor();
  await expect.poll(() => fetchToken(second)).toBe(401);
  expect(await fetchToken(third)).toBe(200);
  expect(complaints).toEqual([]);
});

test("what an organisation calls its applications runs nowhere, and a refusal is shown at its field", async () => {
  const { id: organisation, slug } = await world.createOrganisation("Hostile");
  const name = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
  const application = await call<{ id: string }>(organisation, "POST", "/applications", { name });
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/applications/${application.id}`);
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(name);
  expect(await page.title()).not.toBe("run");

  await page.getByRole("button", { name: "Rename" }).click();
  const field = page.getByRole("dialog").getByLabel("Name");
  await field.fill("two\u200blines");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
  await field.fill("renamed");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { level: 1, name: "renamed" }).waitFor();
  expect(complaints).toEqual([]);
});

test("a viewer sees the pages, and the buttons say why they do nothing", async () => {
  const { id: organisation, slug } = await world.createOrganisation("Viewed");
  const application = await call<{ id: string }>(organisation, "POST", "/applications", { name: "seen" });
  const viewer = await inviteMember(world, organisation, "viewer");
  const { page, open, complaints } = await world.visit({ as: viewer });
  await open(`/o/${slug}/applications`);
  const button = page.getByRole("button", { name: "New application" });
  expect(await button.getAttribute("aria-disabled")).toBe("true");
  await button.focus();
  await page
    .getByRole("tooltip")
    .getByText(/You are viewer of Viewed; this needs the role/u)
    .waitFor();
  await button.click({ force: true });
  expect(await page.getByRole("dialog").count()).toBe(0);
  await open(`/o/${slug}/applications/${application.id}?tab=keys`);
  expect(await page.getByRole("button", { name: "New key" }).first().getAttribute("aria-disabled")).toBe(
    "true",
  );
  expect(complaints).toEqual([]);
});

/** What is in a text field of the page, as JSON. */
async function readJson(page: Page, name: string): Promise<unknown> {
  return JSON.parse(await page.getByRole("textbox", { name }).inputValue()) as unknown;
}

/** A subscription of a new application. */
async function subscribe(organization: string, name: string, planId: string) {
  const { id: applicationId } = await call<{ id: string }>(organization, "POST", "/applications", { name });
  const body = { applicationId, serviceKey, planId };
  const { id } = await call<{ id: string }>(organization, "POST", "/subscriptions", body);
  return { id, applicationId };
}

test("a subscription is tried as its application: result and log are beside the form, it counts for the plan, and what the plan does not have is said there", async () => {
  const { id, slug } = await world.createOrganisation("Trying");
  const { id: subscription, applicationId } = await subscribe(id, "caller", "once");
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/marketplace/${serviceKey}`);
  await page.getByRole("link", { name: "Try it as caller" }).click();
  await page.getByRole("heading", { level: 1, name: "Try adding" }).waitFor();
  await page.getByText("Runs as the application caller, and counts for its plan, once.").waitFor();
  await page.getByText("0 of 1", { exact: true }).waitFor();

  const data = page.getByRole("textbox", { name: "data" });
  const run = page.getByRole("button", { name: "Run", exact: true });
  await expect.poll(() => readJson(page, "data")).toEqual({ a: 1, b: 2 });
  await data.fill('{"a": 4711, "b": "two"}');
  await run.click();
  await page.getByText("/data/b must be integer").waitFor();
  await data.fill('{"a": 4711, "b": 12345678901234567890}');
  await run.click();
  const execution = page.getByRole("region", { name: "Execution", exact: true });
  const result = execution.getByRole("textbox", { name: "Result" });
  await expect.poll(() => result.textContent()).toContain("12345678901234572601");
  await execution
    .getByRole("log", { name: "Log" })
    .getByText("adds <img src=x onerror=alert(1)> up")
    .waitFor();
  await page.getByText("1 of 1", { exact: true }).waitFor();
  const found: string[] = [];
  for (const width of [WIDTHS.narrow, WIDTHS.wide]) {
    await page.setViewportSize({ width, height: 900 });
    found.push(...(await findBarriers(page)), ...(await findCutText(page)));
  }
  expect(found).toEqual([]);
  const { items } = await call<{ items: readonly unknown[] }>(id, "GET", "/executions");
  expect(items).toEqual([
    expect.objectContaining({
      kind: "outgoing",
      subscriptionId: subscription,
      application: { id: applicationId, name: "caller" },
    }),
  ]);

  await run.click();
  const refusal = page.getByRole("alert").filter({ hasText: "nothing was started" });
  await refusal.getByText("QUOTA_EXCEEDED").waitFor();
  await refusal.getByText("What was entered stays. Another plan has other limits.").waitFor();
  expect(await data.inputValue()).toContain("12345678901234567890");
  await call(id, "PUT", `/subscriptions/${subscription}`, { planId: "slowly" });
  await run.click();
  await refusal.waitFor({ state: "detached" });
  await run.click();
  await refusal.getByText("RATE_LIMITED").waitFor();
  await refusal.getByText(/The plan has 1 start a minute\. Try again in \d+ s\./u).waitFor();
  expect(complaints.filter((text) => !/status of 4(?:00|29)/u.test(text))).toEqual([]);
});

test(
  "the input of what a subscription has started is begun with, that of others is not, and a paused subscription says why it starts nothing",
  { tags: "full" },
  async () => {
    const { id, slug } = await world.createOrganisation("Trying again");
    const start = async (name: string) => {
      const { id: sid, applicationId } = await subscribe(id, name, "freely");
      const body = { data: { [name]: 12 } };
      const path = `/subscriptions/${sid}/executions`;
      const { id: started } = await call<{ id: string }>(id, "POST", path, body);
      return { sid, path: `/o/${slug}/applications/${applicationId}/subscriptions/${sid}`, started };
    };
    const [one, other] = [await start("one"), await start("other")];
    const { page, open, complaints } = await world.visit();
    await open(`/o/${slug}/executions/${one.started}?tab=input`);
    await page.getByRole("link", { name: "Edit and run" }).click();
    await page.getByRole("heading", { level: 1, name: "Try adding" }).waitFor();
    await page.getByText("It begins with the input of").waitFor();
    expect(await readJson(page, "data")).toEqual({ one: 12 });
    await page.getByRole("button", { name: "Example again" }).click();
    expect(await readJson(page, "data")).toEqual({ a: 1, b: 2 });
    await open(`${one.path}/try?from=${other.started}`);
    await page.getByText("It was not started here. The form begins without it.").waitFor();
    expect(await readJson(page, "data")).toEqual({ a: 1, b: 2 });

    await open(one.path);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await page.getByRole("link", { name: "Try it" }).click();
    await page.getByRole("heading", { level: 1, name: "Try adding" }).waitFor();
    await page.getByText("The subscription is paused", { exact: true }).waitFor();
    const run = page.getByRole("button", { name: "Run", exact: true });
    expect(await run.getAttribute("aria-disabled")).toBe("true");
    await run.hover();
    await page.getByRole("tooltip").getByText("starts are refused until it is resumed").waitFor();
    expect(complaints).toEqual([]);

    // Paused by somebody else, while it is tried.
    await open(`${other.path}/try`);
    await expect.poll(() => readJson(page, "data")).toEqual({ a: 1, b: 2 });
    // The page itself looks no more: what is pressed is the next look.
    await page.route(new RegExp(`/api/subscriptions/${other.sid}$`, "u"), (route) =>
      route.request().method() === "GET" ? undefined : route.continue(),
    );
    await call(id, "PUT", `/subscriptions/${other.sid}`, { status: "PAUSED" });
    await run.click();
    await page.getByRole("alert").getByText("The subscription starts nothing now").waitFor();
  },
);

test(
  "the empty lists of a new application have the commands that fill them, whole on a narrow screen, and no page names it for a subscription of another one",
  { tags: "full" },
  async () => {
    const { slug, id } = await world.createOrganisation("Empty");
    const create = (name: string) => call<{ id: string }>(id, "POST", "/applications", { name });
    const [own, other] = [await create("own"), await create("other")];
    const { page, open, complaints } = await world.visit({ width: WIDTHS.narrow });
    const path = `/o/${slug}/applications/${own.id}`;
    for (const [tab, command] of [
      ["subscriptions", `platform subscribe SERVICE ${own.id}`],
      ["keys", `platform keys create ${own.id}`],
      ["webhooks", `platform webhooks create ${own.id} URL`],
    ] as const) {
      await open(`${path}?tab=${tab}`);
      await page.getByText(command, { exact: true }).waitFor();
      expect(await findCutText(page)).toEqual([]);
    }
    expect(complaints).toEqual([]);
    const { id: subscription } = await call<{ id: string }>(id, "POST", "/subscriptions", {
      applicationId: other.id,
      serviceKey,
      planId: "freely",
    });
    await open(`/o/${slug}/applications/${other.id}/subscriptions/${subscription}`);
    await page.getByRole("heading", { level: 1, name: "adding for other" }).waitFor();
    for (const more of ["", "/try"]) {
      await open(`${path}/subscriptions/${subscription}${more}`);
      await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
    }
  },
);

test(
  "of more applications than a page of a list has, the first can be subscribed as well",
  { tags: "full" },
  async () => {
    const { id, slug } = await world.createOrganisation("Crowded");
    const ids: string[] = [];
    for (let count = 0; count < 101; count++)
      ids.push(
        (await call<{ id: string }>(id, "POST", "/applications", { name: `application ${count}` })).id,
      );
    const { page, open, complaints } = await world.visit();
    await open(`/o/${slug}/marketplace/${serviceKey}?new=subscription`);
    const dialog = page.getByRole("dialog", { name: /^Subscribe to/u });
    await dialog.getByRole("button", { name: "Next" }).click();
    await dialog.getByLabel("Application").fill("application 0");
    await page.getByRole("option", { name: "application 0", exact: true }).click();
    await dialog.getByRole("button", { name: "Subscribe" }).click();
    await dialog.getByText("Endpoint URL", { exact: true }).waitFor();
    const { items } = await call<{ items: { applicationId: string }[] }>(id, "GET", "/subscriptions");
    expect([items.map(({ applicationId }) => applicationId), complaints]).toEqual([[ids[0]], []]);
  },
);
