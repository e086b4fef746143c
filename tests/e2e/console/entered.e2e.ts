import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findCutText } from "./support/axe.ts";
import { WIDTHS } from "./support/browser.ts";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { callIn, inviteMember } from "./support/people.ts";

/* What is entered reaches where it is meant to, and is not lost on the way. */

const ECHO = `
import os
from typing import TypedDict


class Numbered(TypedDict):
    number: int


def run(data: Numbered) -> int:
    os.symlink("/etc/hostname", os.path.join(os.environ["OUTPUT_DIRECTORY"], "linked.txt"))
    print("one line")
    return data["number"]
`;

let world: ConsoleWorld;
let home: { readonly id: string; readonly slug: string };
let project: string;
/** Of the user's own organisation, and published there. */
let serviceKey: string;
beforeAll(async () => {
  world = await joinConsole();
  home = (await world.api<{ organization: typeof home }>("GET", "/me")).body.organization;
  project = await world.createProject("keeping", ECHO, { "input/data.json": '{"number": 1}' });
  ({ serviceKey } = await world.deploy(project));
  await callIn(world, home.id, "POST", `/services/${serviceKey}/publish`, { scope: "internal" });
});
afterAll(() => world?.close());

test("what is entered to be tried stays in its tab, through another version, a run and a reload, until it is discarded; no other user finds it", async () => {
  const { page, open } = await world.visit();
  await writeFile(join(project, "src/program.py"), `${ECHO}\n# Again.\n`);
  await world.deploy(project);
  const path = `/o/${home.slug}/services/${serviceKey}/try`;
  await open(path);
  const number = page.getByRole("textbox", { name: "number" });
  const version = page.getByRole("combobox", { name: "Version" });
  const newest = await version.inputValue();
  await number.fill("4711");
  await version.click();
  await page.getByRole("option").filter({ hasNotText: newest }).click();
  await expect.poll(() => version.inputValue()).not.toBe(newest);
  await page.getByText("This is what you had entered in this tab.").waitFor();
  expect(await number.inputValue()).toBe("4711");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/executions\/[0-9a-f-]{36}/u);
  const started = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await page.goBack();
  await expect.poll(() => number.inputValue()).toBe("4711");
  await page.reload();
  await expect.poll(() => number.inputValue()).toBe("4711");

  // An earlier input is begun with as it was sent, and what is made of it is another one.
  await open(`${path}?from=${started}`);
  await page.getByText("It begins with the input of").waitFor();
  await number.fill("4712");
  await page.reload();
  await expect.poll(() => number.inputValue()).toBe("4712");
  await page.getByRole("button", { name: "Discard" }).click();
  await expect.poll(() => number.inputValue()).toBe("4711");
  await open(path);
  await expect.poll(() => number.inputValue()).toBe("4711");

  const other = await inviteMember(world, home.id, "maintainer");
  await page.getByRole("button", { name: /^Account of/u }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByLabel("Email address").fill(other.email);
  await page.getByLabel("Password", { exact: true }).fill(other.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: `Account of ${other.name}` }).waitFor();
  await open(path);
  await expect.poll(() => number.inputValue()).toBe("1");
});

test("what is entered is not taken away by an earlier input that can be read after all", async () => {
  const { body } = await world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, {
    data: { number: 5 },
  });
  const { page, open } = await world.visit();
  let isAway = true;
  const input = `/executions/${body.id}/input`;
  await page.route(`**${input}`, (route) => (isAway ? route.abort() : route.continue()));
  await open(`/o/${home.slug}/services/${serviceKey}/try?from=${body.id}`);
  await page.getByText("the form begins without it").waitFor();
  const number = page.getByRole("textbox", { name: "number" });
  await number.fill("6");
  isAway = false;
  const read = page.waitForResponse((answer) => answer.url().includes(input));
  await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
  await read;
  await page.waitForTimeout(500);
  expect(await number.inputValue()).toBe("6");
  await page.getByText("the form begins without it").waitFor();
});

test("what is entered for a subscription that follows the newest version stays with the version that it was begun for", async () => {
  const application = await callIn(world, home.id, "POST", "/applications", { name: "following" });
  const { id } = await callIn(world, home.id, "POST", "/subscriptions", {
    applicationId: application["id"],
    serviceKey,
  });
  const { page, open } = await world.visit();
  await open(`/o/${home.slug}/applications/${application["id"]}/subscriptions/${id}/try`);
  const number = page.getByRole("textbox", { name: "number" });
  const version = page.getByRole("combobox", { name: "Version" });
  await number.fill("7");
  const before = (await version.inputValue()).split(" ")[0] ?? "";
  await writeFile(join(project, "src/program.py"), `${ECHO}\n# Newer.\n`);
  await world.deploy(project);
  await page.waitForResponse(
    async (answer) =>
      answer.url().endsWith(`/subscriptions/${id}`) && !(await answer.text()).includes(`/${before}/`),
  );
  await page.waitForTimeout(500);
  expect(await version.inputValue()).toBe(before);
  expect(await number.inputValue()).toBe("7");
  expect(await number.evaluate((field) => field === document.activeElement)).toBe(true);
});

test("a file that was left out is named with the reason, where the files are looked for", async () => {
  const { page, open } = await world.visit();
  await open(`/o/${home.slug}/services/${serviceKey}/try`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("tab", { name: "Files (0)" }).click();
  const omitted = page.getByRole("list", { name: "Left out" }).getByRole("listitem");
  await expect
    .poll(() => omitted.allTextContents())
    .toEqual([expect.stringMatching(/^linked\.txt: .*symbolic link/u)]);
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByText("1 line", { exact: true }).waitFor();
});

test("what a listing lacks is said of what is typed, and of an example that its newest version refuses", async () => {
  const { page, open } = await world.visit();
  await open(`/o/${home.slug}/services/${serviceKey}?tab=listing`);
  const lacks = page.getByRole("list", { name: "What it lacks" });
  await lacks.getByText("There is no summary.").waitFor();
  await page.getByLabel("Summary").fill("Says a number again");
  await lacks.getByText("There is no summary.").waitFor({ state: "detached" });
  const example = page.getByLabel("Example input");
  await example.fill('{"data": {}, "foo": 1}');
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText('Has an unknown key "foo"').waitFor();
  await example.fill('{"data": {}}');
  await page.getByRole("button", { name: "Save" }).click();
  const refused = lacks.getByText(/^The example input that is saved does not fit version /u);
  await refused.waitFor();
  expect(await refused.textContent()).toContain("/data must have required property 'number'");
  await example.fill('{"data": {"number": 1}}');
  await page.getByRole("button", { name: "Save" }).click();
  await refused.waitFor({ state: "detached" });
});

test("a form leaves what was not touched in it as somebody else has set it meanwhile", async () => {
  const { id, slug } = await world.createOrganisation("Touched");
  const { id: pool = "" } = await callIn(world, id, "POST", "/data-pools", {
    name: "maps",
    description: "a",
  });
  const { page, open } = await world.visit();
  const dialog = page.getByRole("dialog");
  const change = async (path: string, label: string, value: string) => {
    await dialog.getByLabel(label, { exact: true }).fill(value);
    await dialog.getByRole("button", { name: "Change" }).click();
    await dialog.waitFor({ state: "detached" });
    return await callIn(world, id, "GET", path);
  };
  await open(`/o/${slug}/data-pools/${pool}?edit=pool`);
  await dialog.waitFor();
  await callIn(world, id, "PUT", `/data-pools/${pool}`, { description: "b" });
  expect(await change(`/data-pools/${pool}`, "Name", "roads")).toMatchObject({
    name: "roads",
    description: "b",
  });

  await open(`/o/${slug}/settings?edit=organisation`);
  await dialog.waitFor();
  const path = `/organizations/${id}`;
  await callIn(world, id, "PUT", path, { slug: `${slug}-new` });
  const renamed = { name: "Touched again", slug: `${slug}-new` };
  expect(await change(path, "Name", renamed.name)).toMatchObject(renamed);

  await open(`/o/${renamed.slug}/settings?edit=organisation`);
  await dialog.waitFor();
  await callIn(world, id, "PUT", path, { name: "Touched by others" });
  const moved = { name: "Touched by others", slug: `${slug}-newer` };
  expect(await change(path, "Short name", moved.slug)).toMatchObject(moved);
});

test("spaces around a name or an address are none of it", async () => {
  const { id, slug } = await world.createOrganisation("Spaces");
  const { page, open } = await world.visit();
  const dialog = page.getByRole("dialog");
  await open(`/o/${slug}/members?new=invitation`);
  await dialog.getByLabel("Email address").fill(" ada@example.org ");
  await dialog.getByRole("button", { name: "Make the link" }).click();
  await page.getByRole("dialog", { name: "The link of the invitation" }).waitFor();
  const invitations = await callIn<{ items: readonly unknown[] }>(world, id, "GET", "/invitations");
  expect(invitations.items).toMatchObject([{ email: "ada@example.org" }]);
  await open(`/o/${slug}/applications?new=application`);
  await dialog.getByLabel("Name of the application").fill(" Ada ");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "Ada" }).waitFor();
  const applications = await callIn<{ items: readonly unknown[] }>(world, id, "GET", "/applications");
  expect(applications.items).toMatchObject([{ name: "Ada" }]);
});

test("an application that is not subscribed yet is offered first, and the others are marked", async () => {
  await callIn(world, home.id, "POST", "/applications", { name: "One" });
  await callIn(world, home.id, "POST", "/applications", { name: "Other" });
  const { items } = await callIn<{ items: readonly { id: string; name: string }[] }>(
    world,
    home.id,
    "GET",
    "/applications",
  );
  const [taken, free] = items;
  await callIn(world, home.id, "POST", "/subscriptions", { applicationId: taken?.id, serviceKey });
  const { page, open } = await world.visit();
  await open(`/o/${home.slug}/marketplace/${serviceKey}?new=subscription`);
  const application = page.getByRole("dialog").getByRole("combobox", { name: "Application" });
  await expect.poll(() => application.inputValue()).toBe(free?.name);
  await application.click();
  await page.getByRole("option", { name: `${taken?.name ?? ""} (subscribed)` }).waitFor();
});

test("a pause without a number of attempts says which one is missing", async () => {
  const { page, open } = await world.visit();
  await open(`/o/${home.slug}/services/${serviceKey}/settings`);
  await page.getByLabel("Pause before the second attempt").fill("5");
  await page
    .locator("form")
    .filter({ has: page.getByLabel("The longest pause") })
    .getByRole("button", { name: "Save" })
    .click();
  await expect.poll(() => page.locator("[aria-invalid=true]").count()).toBe(1);
  await page.getByText("Is required with a pause").waitFor();
});

test("the longest names fit on a narrow screen, also above the title", async () => {
  const name = "n".repeat(63);
  const { key = "" } = await callIn(world, home.id, "POST", "/services", { name });
  const { id = "" } = await callIn(world, home.id, "POST", "/applications", { name: "m".repeat(120) });
  const wanted = { applicationId: id, serviceKey };
  const { id: sid = "" } = await callIn(world, home.id, "POST", "/subscriptions", wanted);
  const { page, open } = await world.visit({ width: WIDTHS.narrow });
  for (const path of [`services/${key}/try`, `applications/${id}/subscriptions/${sid}`]) {
    await open(`/o/${home.slug}/${path}`);
    expect(await findCutText(page)).toEqual([]);
  }
});
