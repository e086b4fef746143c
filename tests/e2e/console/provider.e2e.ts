import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, request } from "../../../tools/platform-client.ts";
import { findBarriers } from "./support/axe.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { readWhy } from "./support/read-why.ts";
import { waitForFrames } from "./support/settled.ts";

const PROGRAM = `
def run(data: dict[str, int]) -> int:
    """Adds up."""
    return sum(data.values())
`;
const DESCRIBED = JSON.stringify({
  name: "summing",
  runtime: "PYTHON_TEMPLATE",
  resources: { cpu: 0.25, memory: 0.25 },
  descriptionFile: "README.md",
});
const WRITTEN = `# How it sums

Adds **numbers**.

<script>document.title = 'hijacked'</script>
<img src="x" onerror="document.title = 'hijacked'">

[more](javascript:document.title='hijacked')
`;

let world: ConsoleWorld;
let slug: string;
let serviceKey: string;
beforeAll(async () => {
  world = await joinConsole();
  const { body } = await world.api<{ organization: { slug: string } }>("GET", "/me");
  ({ slug } = body.organization);
  const files = { "platform.json": DESCRIBED, "README.md": "# Of the project\n" };
  ({ serviceKey } = await world.deploy(await world.createProject("summing", PROGRAM, files)));
});
afterAll(() => world?.close());

test("a listing written in Markdown is previewed as published, and a script in it runs nowhere", async () => {
  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/services/${serviceKey}?tab=listing`);
  await page.getByLabel("Title").fill("Sums of <b>all</b>");
  await page.getByLabel("Description", { exact: true }).fill(WRITTEN);
  const preview = page.getByRole("article", { name: "Preview" });
  await preview.getByRole("heading", { name: "How it sums" }).waitFor();
  const previewed = await preview.locator(".prose").innerHTML();

  // What was entered outlives another page and a reload.
  await page.getByRole("tab", { name: "Overview" }).click();
  await page.getByRole("tab", { name: "Listing" }).click();
  await page.reload();
  await page.getByText("Not saved yet").waitFor();
  await preview.getByText("Sums of <b>all</b>").waitFor();
  expect(await preview.locator(".prose").innerHTML()).toBe(previewed);
  await page.getByRole("tab", { name: "Preview" }).click();
  await page
    .getByRole("tabpanel", { name: "Preview" })
    .getByRole("heading", { name: "How it sums" })
    .waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  await page.getByText("Not saved yet").waitFor({ state: "detached" });

  await world.api("POST", `/services/${serviceKey}/publish`, { scope: "marketplace" });
  const stranger = await world.createOrganisation("Strangers");
  await open(`/o/${stranger.slug}/marketplace/${serviceKey}`);
  await page.getByRole("heading", { name: "How it sums" }).waitFor();
  expect(await page.locator(".prose").innerHTML()).toBe(previewed);
  expect(previewed).not.toMatch(/script|onerror|javascript:/u);
  expect(await page.title()).toBe("Sums of <b>all</b> · Platform");
  expect(complaints).toEqual([]);
});

test("what is entered while a listing is being saved stays, and is saved next", async () => {
  const { page, open } = await world.visit();
  await open(`/o/${slug}/services/${serviceKey}?tab=listing`);
  const summary = page.getByLabel("Summary");
  const changed = page.getByText("Changed since you opened it");
  const held: (() => Promise<void>)[] = [];
  const told: number[] = [];
  await page.route(/\/listing$/u, async (route) => {
    if (route.request().method() === "PUT" && held.length === 0)
      return void held.push(() => route.continue());
    // While it is read again, it is known who has saved.
    told.push(await changed.count());
    return route.continue();
  });
  await summary.fill("The first");
  const sent = page.waitForRequest((request) => request.method() === "PUT");
  await page.getByRole("button", { name: "Save" }).click();
  await sent;
  await summary.fill("The first and the second");
  await expect.poll(() => held.length).toBe(1);
  await held[0]?.();
  await page.getByText("Saved.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  const read = async () =>
    (await world.api<{ summary: string }>("GET", `/services/${serviceKey}/listing`)).body.summary;
  await expect.poll(read).toBe("The first and the second");
  expect(await summary.inputValue()).toBe("The first and the second");
  await changed.waitFor({ state: "detached" });
  await expect.poll(() => told.length).toBeGreaterThan(2);
  expect(told.filter((count) => count > 0)).toEqual([]);
});

test("a listing that is opened again while it is being saved is saved, and nobody else's change is told", async () => {
  const { page, open } = await world.visit();
  await open(`/o/${slug}/services/${serviceKey}?tab=listing`);
  const held: (() => void)[] = [];
  await page.route(/\/listing$/u, async (route) => {
    if (route.request().method() === "PUT") await new Promise<void>((resolve) => held.push(resolve));
    await route.continue();
  });
  const summary = page.getByLabel("Summary");
  await summary.fill("Saved from elsewhere");
  const save = page.getByRole("button", { name: "Save" });
  await save.click();
  await expect.poll(() => held.length).toBe(1);
  await page.getByRole("tab", { name: "Overview" }).click();
  await page.getByRole("tab", { name: "Listing" }).click();
  await summary.waitFor();
  held.pop()?.();
  await page.getByText("Not saved yet").waitFor({ state: "detached" });
  expect(await summary.inputValue()).toBe("Saved from elsewhere");
  expect(await page.getByText("Changed since you opened it").count()).toBe(0);
  // The form stays when it is saved, and so does the focus.
  await summary.fill("Saved by Enter");
  expect(await page.getByText("Not saved yet").count()).toBe(0);
  await summary.press("Enter");
  await expect.poll(() => held.length).toBe(1);
  held.pop()?.();
  await expect.poll(() => save.getAttribute("data-loading")).toBeNull();
  expect(await summary.evaluate((field) => field === document.activeElement)).toBe(true);
});

test("a draft that is discarded leaves what is saved", { tags: "full" }, async () => {
  const { page, open } = await world.visit();
  await open(`/o/${slug}/services/${serviceKey}?tab=listing`);
  const before = await page.getByLabel("Title").inputValue();
  await page.getByLabel("Title").fill("Something else");
  await page.reload();
  await page.getByRole("button", { name: "Discard" }).click();
  await page.getByText("Not saved yet").waitFor({ state: "detached" });
  expect(await page.getByLabel("Title").inputValue()).toBe(before);
});

test("settings hold for what is started from then on, and the value of a secret comes back nowhere", async () => {
  const { page, open, complaints } = await world.visit();
  const bodies: Promise<string>[] = [];
  page.on("response", (response) => {
    if (response.url().includes("/api/")) bodies.push(response.text().catch(() => ""));
  });
  await open(`/o/${slug}/services/${serviceKey}/settings`);
  await page.getByLabel("Time limit").fill("90");
  await page.getByLabel("At one time", { exact: true }).fill("3");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(/^Revision 1, set/u).waitFor();
  expect((await world.api("GET", `/services/${serviceKey}/policy`)).body).toMatchObject({
    revision: 1,
    policy: { timeoutSeconds: 90, concurrency: { service: 3 } },
  });

  await page.getByRole("tab", { name: "Variables" }).click();
  await page.getByRole("button", { name: "New secret" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("API_KEY");
  await dialog.getByLabel("Value", { exact: true }).fill("a value of nobody");
  await dialog.getByRole("button", { name: "Set" }).click();
  await page.getByRole("row").filter({ hasText: "API_KEY" }).waitFor();
  await page.reload();
  await page.getByRole("row").filter({ hasText: "API_KEY" }).waitFor();
  expect(await page.content()).not.toContain("a value of nobody");
  expect((await Promise.all(bodies)).join("\n")).not.toContain("a value of nobody");
  expect(complaints).toEqual([]);
});

test("a variable is changed from the value that it has, and a secret of several lines keeps them", async () => {
  await world.api("PUT", `/services/${serviceKey}/variables/REGION`, { value: "eu-1" });
  const { page, open } = await world.visit();
  await open(`/o/${slug}/services/${serviceKey}/settings?tab=variables&set=variable:REGION`);
  const dialog = page.getByRole("dialog");
  const value = dialog.getByLabel("Value", { exact: true });
  expect(await value.inputValue()).toBe("eu-1");
  await value.fill("eu-2");
  await dialog.getByRole("button", { name: "Set" }).click();
  await page.getByRole("row").filter({ hasText: "eu-2" }).waitFor();

  const lines = "-----BEGIN KEY-----\nabc\n-----END KEY-----\n";
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.method() === "PUT" && one.url().endsWith("/secrets/PEM")),
    (async () => {
      await page.getByRole("button", { name: "New secret" }).first().click();
      await dialog.getByLabel("Name").fill("PEM");
      await dialog.getByLabel("Value", { exact: true }).fill(lines);
      await dialog.getByRole("button", { name: "Set" }).click();
    })(),
  ]);
  expect(request.postDataJSON()).toEqual({ value: lines });
});

test(
  "what is being entered stays when somebody else saves meanwhile, and replaces nothing unasked",
  { tags: "full" },
  async () => {
    const listing = await world.visit();
    await listing.open(`/o/${slug}/services/${serviceKey}?tab=listing`);
    await listing.page.getByLabel("Title").fill("Mine");
    const settings = await world.visit();
    await settings.open(`/o/${slug}/services/${serviceKey}/settings`);
    const limit = settings.page.getByLabel("Time limit");
    await limit.fill("120");

    await world.api("PUT", `/services/${serviceKey}/listing`, { title: "Theirs" });
    const path = `/services/${serviceKey}/policy`;
    const { revision } = (await world.api<{ revision: number }>("GET", path)).body;
    await world.api("PUT", path, { revision, policy: { timeoutSeconds: 45 } });
    const theirs = settings.page.getByRole("button", { name: "Show the newer one" });
    const changed = listing.page.getByText("Changed since you opened it");
    await expect
      .poll(async () => {
        // Who comes back to a window reads again what is older than some seconds.
        for (const { page } of [listing, settings])
          await page.evaluate(() => globalThis.dispatchEvent(new Event("visibilitychange")));
        return (await theirs.isVisible()) && (await changed.isVisible());
      })
      .toBe(true);

    expect(await listing.page.getByLabel("Title").inputValue()).toBe("Mine");
    await listing.page.getByLabel("Title").fill("Mine, too");
    await listing.page.reload();
    await changed.waitFor();
    const saveListing = listing.page.getByRole("button", { name: "Save", exact: true });
    await saveListing.click();
    await listing.page.getByText("This conflicts with what is there").waitFor();
    expect(await listing.page.getByLabel("Title").inputValue()).toBe("Mine, too");
    const listingPath = `/services/${serviceKey}/listing`;
    expect((await world.api("GET", listingPath)).body).toMatchObject({ title: "Theirs" });
    await listing.page.getByRole("button", { name: "Show the newer one" }).click();
    await expect.poll(() => listing.page.getByLabel("Title").inputValue()).toBe("Theirs");

    expect(await limit.inputValue()).toBe("120");
    const save = settings.page.getByRole("button", { name: "Save" });
    await save.click();
    await settings.page.getByText("This conflicts with what is there").waitFor();
    await theirs.click();
    await expect.poll(() => limit.inputValue()).toBe("45");
    // What is saved twice is one revision; what is entered after that is not saved yet.
    await save.click();
    await settings.page.getByText(`Revision ${revision + 2}, set`).waitFor();
    await Promise.all([
      settings.page.waitForResponse((one) => one.request().method() === "PUT"),
      save.click(),
    ]);
    await expect.poll(() => save.getAttribute("data-loading")).toBeNull();
    await limit.fill("50");
    await settings.page.getByRole("link", { name: "summing", exact: true }).click();
    const question = settings.page.getByRole("dialog", { name: "Leave without saving?" });
    await question.getByRole("button", { name: "Leave" }).click();

    await settings.open(`/o/${slug}/services/${serviceKey}/settings?tab=kept`);
    const days = settings.page.getByLabel("Results are kept for");
    await days.fill("20");
    await world.api("PUT", `/services/${serviceKey}`, { logDays: 7 });
    await save.click();
    await expect
      .poll(async () => (await world.api("GET", `/services/${serviceKey}`)).body)
      .toMatchObject({ resultDays: 20, logDays: 7 });
    await expect.poll(() => settings.page.getByLabel("Logs are kept for").inputValue()).toBe("7");
  },
);

test("a service that has had versions says why it stays; one that never had goes once its name is typed", async () => {
  const { body: created } = await world.api<{ key: string }>("POST", "/services", { name: "never-built" });
  const { page, open } = await world.visit();
  await open(`/o/${slug}/services/${serviceKey}/settings?tab=deletion`);
  await page.getByText("summing has had versions, and stays").waitFor();
  await open(`/o/${slug}/services/${created.key}/settings?tab=deletion`);
  const beside = await world.visit();
  await beside.open(`/o/${slug}/services/${created.key}/settings`);
  const gone = { level: 1, name: "Not found" } as const;
  const comeBack = ({ page }: typeof beside) =>
    page.evaluate(() => dispatchEvent(new Event("visibilitychange")));
  await page.getByRole("button", { name: "Delete the service" }).click();
  const dialog = page.getByRole("dialog");
  const confirm = dialog.getByRole("button", { name: "Delete the service" });
  // Neither the button, nor the key, nor the form itself deletes it before.
  await dialog.getByLabel(/^Type/u).fill("never-buil");
  await dialog.getByLabel(/^Type/u).press("Enter");
  await confirm.click({ force: true });
  await dialog.locator("form").evaluate((form) => (form as HTMLFormElement).requestSubmit());
  expect(await confirm.isDisabled()).toBe(true);
  expect((await world.api("GET", `/services/${created.key}`)).status).toBe(200);
  await dialog.getByLabel(/^Type/u).fill("never-built");
  // Who deletes it is led to the others, also where it is read again before they are.
  const held: (() => void)[] = [];
  const isReleased = new Promise<void>((resolve) => held.push(resolve));
  const others = page.waitForRequest(/\/services(?:\?.*)?$/u);
  await page.route(/\/services(?:\?.*)?$/u, (route) => isReleased.then(() => route.continue()));
  let isRead = false;
  page.on("requestfinished", async (sent) => {
    if (sent.url().endsWith(`/services/${created.key}`) && (await sent.response())?.status() === 404)
      isRead = true;
  });
  await confirm.click();
  await others;
  await expect.poll(() => comeBack({ ...beside, page }).then(() => isRead)).toBe(true);
  await waitForFrames(page);
  expect(await page.getByRole("heading", gone).count()).toBe(0);
  held.pop()?.();
  await page.getByRole("heading", { level: 1, name: "Services" }).waitFor();
  expect((await world.api("GET", `/services/${created.key}`)).status).toBe(404);
  // Who has it open, too, sees it go, and that nothing can be saved any more.
  const isGone = () => beside.page.getByRole("heading", gone).isVisible();
  await expect.poll(() => comeBack(beside).then(isGone)).toBe(true);
});

test("a provider ends a subscription with a reason, which the subscriber reads on its page and in each refusal, while what was started stays readable", async () => {
  const reason = 'Closed <b onclick="alert(1)">on 1 May</b>: use tsp2';
  const { id, slug: leaving } = await world.createOrganisation("Leaving");
  await world.api("POST", `/services/${serviceKey}/publish`, { scope: "marketplace" });
  const ask = <T>(method: string, path: string, json?: unknown) =>
    request<T>(method, `${world.login.apiUrl}/api${path}`, {
      token: world.login.personalAccessToken,
      headers: { "x-organizationid": id },
      ...(json === undefined ? {} : { json }),
    });
  const { body: application } = await ask<{ id: string }>("POST", "/applications", { name: "caller" });
  await world.api("PUT", `/services/${serviceKey}/plans/leaving`, { name: "Leaving" });
  const terms = { applicationId: application.id, serviceKey, planId: "leaving" };
  const { body: made } = await ask<{ id: string }>("POST", "/subscriptions", terms);
  const start = () =>
    ask<{ id: string; code?: string; detail?: string }>("POST", `/subscriptions/${made.id}/executions`, {
      data: { a: 1 },
    });
  const started = await start();
  expect(started.status).toBe(201);

  const { page, open, complaints } = await world.visit();
  await open(`/o/${slug}/services/${serviceKey}?tab=subscribers`);
  const row = page.getByRole("row").filter({ hasText: "Leaving" });
  await row.getByRole("button", { name: "End the subscription of Leaving" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "End for good" }).click();
  await dialog.locator("[aria-invalid=true]").waitFor();
  await dialog.getByLabel("Reason").fill(reason);
  await dialog.getByRole("button", { name: "End for good" }).click();
  await row.getByText("Ended", { exact: true }).waitFor();
  await row.getByText(reason).waitFor();
  expect(await row.getByRole("button").count()).toBe(0);

  await open(`/o/${leaving}/applications`);
  await page.getByRole("link", { name: "caller" }).click();
  await page.getByText("Ended by the provider").waitFor();
  await page.getByRole("link", { name: "summing" }).click();
  await page.getByText(`Reason: ${reason}`).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  for (const name of ["Pause", "Change"])
    expect(await page.getByRole("button", { name, exact: true }).getAttribute("aria-disabled")).toBe("true");
  const refused = await start();
  expect([refused.status, refused.body.code]).toEqual([403, "SUBSCRIPTION_ENDED"]);
  expect(refused.body.detail).toContain(reason);
  expect((await ask("GET", `/executions/${started.body.id}`)).status).toBe(200);
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await dialog.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByRole("heading", { name: "No subscriptions" }).waitFor();
  expect(complaints).toEqual([]);
});

test(
  "a plan that is withdrawn while somebody chooses it is not gone on with: the button says so, and the next one is",
  { tags: "full" },
  async () => {
    const { slug: customer } = await world.createOrganisation("Choosing");
    const path = `/services/${serviceKey}`;
    await expectOk(world.api("POST", `${path}/publish`, { scope: "marketplace" }));
    await expectOk(world.api("PUT", `${path}/plans/passing`, { name: "Passing" }));
    const { page, open, complaints } = await world.visit();
    await open(`/o/${customer}/marketplace/${serviceKey}?new=subscription&plan=passing`);
    const dialog = page.getByRole("dialog");
    const passing = dialog.getByRole("radio", { name: "Passing" });
    expect(await passing.isChecked()).toBe(true);
    await expectOk(world.api("DELETE", `${path}/plans/passing`));
    // What is no longer fresh is read again when one comes back to the window.
    const comeBack = () => page.evaluate(() => dispatchEvent(new Event("visibilitychange")));
    await expect.poll(() => comeBack().then(() => passing.count())).toBe(0);
    const next = dialog.getByRole("button", { name: "Next" });
    expect(await readWhy(next, "Next")).toBe("Choose a plan before.");
    await dialog.getByRole("radio", { name: "Free" }).check();
    await next.click();
    await dialog.getByRole("button", { name: "Change plan" }).waitFor();
    expect(complaints).toEqual([]);
  },
);
