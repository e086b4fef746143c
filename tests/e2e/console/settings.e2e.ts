import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "../../../tools/platform-client.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { inviteMember } from "./support/people.ts";

let world: ConsoleWorld;
let slug: string;
let serviceKey: string;
beforeAll(async () => {
  world = await joinConsole();
  const { body } = await world.api<{ organization: { slug: string } }>("GET", "/me");
  ({ slug } = body.organization);
  const service = await expectOk(world.api<{ key: string }>("POST", "/services", { name: "set-up" }));
  serviceKey = service.key;
});
afterAll(() => world?.close());

/** The settings of the service, whose changes are held until `letGo`; `canRead`: false: it cannot be read again. */
async function openHeld({ canRead }: { readonly canRead: boolean }) {
  const { page, open } = await world.visit();
  const path = `/services/${serviceKey}`;
  await open(`/o/${slug}${path}/settings`);
  const held: (() => void)[] = [];
  await page.route(new RegExp(`${path}(/policy)?$`, "u"), async (route) => {
    if (route.request().method() === "GET") return canRead ? route.continue() : route.abort();
    await new Promise<void>((resolve) => held.push(resolve));
    return route.continue();
  });
  const save = page.getByRole("button", { name: "Save" });
  const isHeld = () => expect.poll(() => held.length).toBe(1);
  const letGo = async () => {
    await isHeld();
    held.pop()?.();
    await expect.poll(() => save.getAttribute("data-loading")).toBeNull();
    expect(await page.getByText("Changed since you opened it").count()).toBe(0);
  };
  return { page, path, save, isHeld, letGo };
}

test("what is entered while settings are being saved stays, and is saved next, also where they cannot be read again", async () => {
  const { page, path, save, letGo } = await openHeld({ canRead: false });
  const saveTwice = async (enterMeanwhile: () => Promise<void>) => {
    await save.click();
    await enterMeanwhile();
    await letGo();
    await save.click();
    await letGo();
  };
  await page.getByLabel("To begin within").fill("40");
  await saveTwice(() => page.getByLabel("Time limit").fill("80"));
  const readPolicy = async () => (await world.api<{ policy: object }>("GET", `${path}/policy`)).body.policy;
  expect(await readPolicy()).toMatchObject({ startWithinSeconds: 40, timeoutSeconds: 80 });

  await page.getByRole("tab", { name: "What is kept" }).click();
  await page.getByLabel("Results are kept for").fill("21");
  await world.api("PUT", path, { logs: "provider" });
  // As long as nothing is entered in it, the field shows what was saved of it, and keeps the focus.
  const logDays = page.getByLabel("Logs are kept for");
  await save.click();
  await logDays.focus();
  await world.api("PUT", path, { logDays: 5 });
  await letGo();
  await expect.poll(() => logDays.inputValue()).toBe("5");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("7");
  expect(await logDays.inputValue()).toBe("7");
  await saveTwice(() => logDays.fill("6"));
  const read = async () => (await world.api<object>("GET", path)).body;
  expect(await read()).toMatchObject({ resultDays: 21, logDays: 6, logs: "provider" });
  expect(await page.getByLabel("Results are kept for").inputValue()).toBe("21");
});

test("what is entered while settings are being saved is not left unasked, nor is it behind the save", async () => {
  const { page, save, isHeld, letGo } = await openHeld({ canRead: true });
  const leave = page.getByRole("link", { name: "set-up", exact: true });
  const question = page.getByRole("dialog", { name: "Leave without saving?" });
  const isAsked = async () => {
    await leave.click();
    await question.getByRole("button", { name: "Stay" }).click();
    await question.waitFor({ state: "detached" });
  };
  await page.getByLabel("To begin within").fill("41");
  await save.click();
  await isHeld();
  await page.getByLabel("Time limit").fill("81");
  await isAsked();
  await letGo();
  const other = page.getByLabel("At one time", { exact: true });
  await other.fill("3");
  await other.fill("");
  await isAsked();
  expect(await page.getByLabel("Time limit").inputValue()).toBe("81");
  await save.click();
  await letGo();
  await leave.click();
  await page.getByRole("heading", { level: 1, name: "set-up" }).waitFor();
});

test("settings that are opened again while they are being saved show what was saved, and nobody else's change is told", async () => {
  const { page, save, isHeld, letGo } = await openHeld({ canRead: true });
  const limit = page.getByLabel("Time limit");
  await limit.fill("62");
  await save.click();
  await isHeld();
  await page.getByRole("tab", { name: "What is kept" }).click();
  await page.getByLabel("Results are kept for").waitFor();
  await page.getByRole("tab", { name: "Runs" }).click();
  await limit.waitFor();
  await letGo();
  await expect.poll(() => limit.inputValue()).toBe("62");
  expect(await page.getByText("Changed since you opened it").count()).toBe(0);
});

test("saving settings that were not changed takes back nothing that somebody else has set", async () => {
  const { page, path, save, letGo } = await openHeld({ canRead: true });
  await page.getByRole("tab", { name: "What is kept" }).click();
  const days = page.getByLabel("Results are kept for");
  const before = await days.inputValue();
  await days.waitFor();
  await world.api("PUT", path, { resultDays: 33 });
  await save.click();
  await page.getByText("You have changed nothing.").waitFor();
  await days.fill("34");
  await days.fill(before);
  await page.getByLabel("Logs are kept for").fill("4");
  await save.click();
  await letGo();
  await expect.poll(() => days.inputValue()).toBe("33");
  expect((await world.api<object>("GET", path)).body).toMatchObject({ resultDays: 33, logDays: 4 });
});

test("once an answer was lost, all is sent until it is answered, and then only what was changed again", async () => {
  const { page, open } = await world.visit();
  const path = `/services/${serviceKey}`;
  await open(`/o/${slug}${path}/settings`);
  await page.getByRole("tab", { name: "What is kept" }).click();
  const days = page.getByLabel("Results are kept for");
  const save = page.getByRole("button", { name: "Save" });
  const sent: unknown[] = [];
  await page.route(new RegExp(`/api${path}$`, "u"), async (route) => {
    if (route.request().method() !== "PUT") return route.continue();
    sent.push(route.request().postDataJSON());
    return sent.length === 1 ? route.abort() : route.continue();
  });
  await days.fill("41");
  await save.click();
  await page.getByRole("alert").first().waitFor();
  await save.click();
  await page.getByText("Saved.").first().waitFor();
  expect(Object.keys(Object(sent[1])).toSorted()).toEqual(["logDays", "logs", "resultDays"]);
  await world.api("PUT", path, { logDays: 5 });
  await days.fill("42");
  await save.click();
  await expect.poll(() => sent[2]).toEqual({ resultDays: 42 });
  await page.unrouteAll({ behavior: "wait" });
});

test("the listing of one service is never begun from that of another, by whatever way one comes to it", async () => {
  const { body: other } = await world.api<{ key: string }>("POST", "/services", { name: "next-door" });
  await world.api("PUT", `/services/${serviceKey}/listing`, { title: "set-up", summary: "Of the first" });
  await world.api("PUT", `/services/${other.key}/listing`, { title: "next-door", summary: "Of the second" });
  const { page, open } = await world.visit();
  const summary = page.getByLabel("Summary");
  await open(`/o/${slug}/services/${serviceKey}?tab=listing`);
  await expect.poll(() => summary.inputValue()).toBe("Of the first");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find a page" }).fill("next-door");
  await page
    .getByRole("option", { name: /next-door/u })
    .first()
    .click();
  await page.getByRole("heading", { level: 1, name: "next-door" }).waitFor();
  await page.getByRole("tab", { name: "Listing" }).click();
  await expect.poll(() => summary.inputValue()).toBe("Of the second");
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "set-up" }).waitFor();
  await expect.poll(() => summary.inputValue()).toBe("Of the first");
});

test("a viewer reads why the settings are not theirs to change, and has no button that is refused", async () => {
  const { body } = await world.api<{ organization: { id: string } }>("GET", "/me");
  const { page, open, complaints } = await world.visit({
    as: await inviteMember(world, body.organization.id, "viewer"),
  });
  await open(`/o/${slug}/services/${serviceKey}/settings`);
  await page
    .getByRole("main")
    .getByText(/needs the role/u)
    .waitFor();
  expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
  // The pages above it are not the current one.
  expect(await page.getByRole("main").locator("a[aria-current=page]").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("a word that is searched for has no spaces around it, in its field neither", async () => {
  const { page, open } = await world.visit();
  await open(`/o/${slug}/executions`);
  const find = page.getByRole("search").getByLabel("Find");
  await find.fill("  abc ");
  await find.press("Enter");
  await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe("abc");
  expect(await find.inputValue()).toBe("abc");
  await find.fill("abc ");
  await find.press("Enter");
  await expect.poll(() => find.inputValue()).toBe("abc");
});
