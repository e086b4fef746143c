import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { joinConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { addPerson, callIn, createPerson, invite } from "./support/people.ts";
import type { Person } from "./support/people.ts";

let world: ConsoleWorld;
let organisation: { readonly id: string; readonly slug: string };
const [anna, ben] = [createPerson("Anna"), createPerson("Ben")];
beforeAll(async () => {
  world = await joinConsole();
  organisation = await world.createOrganisation("Shared by two");
  for (const person of [anna, ben])
    await addPerson(world, person, { of: organisation.id, role: "maintainer" });
});
afterAll(() => world?.close());

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Account of/u }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
}

async function signIn(page: Page, { name, email, password }: Person): Promise<void> {
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: `Account of ${name}` }).waitFor();
}

/** A page of Anna's, of a browser of its own, and the way to another tab of it. */
async function openAsAnna(path: string) {
  const visit = await world.visit({ as: anna, hasOwnSession: true });
  await visit.open(path);
  const openTab = async () => {
    const tab = await visit.context.newPage();
    await tab.goto(new URL("/account", visit.page.url()).href);
    return tab;
  };
  return { ...visit, openTab };
}

test("a tab does nothing in the name of another user who has signed in beside it, and is theirs then", async () => {
  const { page, openTab } = await openAsAnna("/account/tokens");
  const tab = await openTab();
  await signOut(tab);
  await signIn(tab, ben);
  const answered = page.waitForResponse((answer) => answer.request().method() === "POST");
  await page.getByRole("button", { name: "New token" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("for-anna");
  await dialog.getByRole("button", { name: /Create/u }).click();
  expect((await answered).status()).toBe(401);
  // What was entered stays, until it is given up.
  await page.getByText("Anna is not signed in any more").waitFor();
  expect(await dialog.getByLabel("Name").inputValue()).toBe("for-anna");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Leave" }).click();
  await page.reload();
  await page.getByRole("button", { name: "Account of Ben" }).waitFor();
  expect(await page.getByText("for-anna").count()).toBe(0);
});

test("what is entered in a page stays its user's, whoever signs in beside it and wherever the mouse goes", async () => {
  const service = await callIn(world, organisation.id, "POST", "/services", { name: "of-two" });
  const path = `/services/${service["key"]}`;
  const { page, openTab } = await openAsAnna(`/o/${organisation.slug}${path}/settings`);
  await page.getByLabel("Time limit").fill("80");
  const tab = await openTab();
  await signOut(tab);
  await signIn(tab, ben);
  const save = async () => {
    const answered = page.waitForResponse((answer) => answer.request().method() === "PUT");
    await page.getByRole("button", { name: "Save" }).click();
    return (await answered).status();
  };
  expect(await save()).toBe(401);
  await page.getByText("Anna is not signed in any more").waitFor();
  // A link that is pointed at is loaded before it is followed, and its route asks for the user.
  const pointAt = async (link: string, path: string) => {
    const asked = page.waitForResponse((answer) => answer.url().includes(path));
    await page.getByRole("navigation").getByRole("link", { name: link }).hover();
    await asked;
  };
  await pointAt("Applications", "/api/applications");
  // Also while it is on its way.
  const looked = page.waitForResponse((answer) => answer.url().endsWith("/api/me"));
  await page.route("**/policy", async (route) => {
    if (route.request().method() === "PUT") {
      await looked;
      // Long enough for the page to become Ben's, if it did.
      await page.waitForTimeout(1000);
    }
    await route.continue();
  });
  const saved = save();
  await pointAt("Data pools", "/api/data-pools");
  expect(await saved).toBe(401);
  expect(await page.getByLabel("Time limit").inputValue()).toBe("80");
  const { policy } = await callIn<{ policy: object }>(world, organisation.id, "GET", `${path}/policy`);
  expect(policy).not.toHaveProperty("timeoutSeconds");
});

test("an invitation is accepted by who is said to accept it, or by nobody", async () => {
  const { id } = await world.createOrganisation("Inviting");
  const { page, openTab } = await openAsAnna(await invite(world, id, { role: "viewer" }));
  const tab = await openTab();
  await signOut(tab);
  await signIn(tab, ben);
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByText(ben.email).waitFor();
  const { items } = await callIn<{ items: readonly { email: string }[] }>(world, id, "GET", "/members");
  expect(items).toHaveLength(1);
});

test("a page that asks for nothing is left once its session has ended, but for a secret that is shown only then; signing out of one leads out", async () => {
  const [quiet, leaving, showing] = await Promise.all([
    openAsAnna("/account/tokens"),
    openAsAnna("/account"),
    openAsAnna("/account/tokens?new=token"),
  ]);
  const dialog = showing.page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("shown");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("Shown only now").waitFor();
  for (const { page } of [quiet, leaving, showing])
    await page.evaluate(() =>
      fetch("/api/session", { method: "DELETE", headers: { "x-requested-by": "console" } }),
    );
  await signOut(leaving.page);
  await quiet.page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(new URL(quiet.page.url()).searchParams.get("next")).toBe("/account/tokens");
  await showing.page.getByText("Anna is not signed in any more").waitFor();
  expect(await dialog.getByText("Shown only now").isVisible()).toBe(true);
});

test("what is entered when the session ends is saved once its user has signed in again in another tab", async () => {
  const { page, openTab } = await openAsAnna(`/o/${organisation.slug}/data-pools?new=pool`);
  const name = page.getByRole("dialog").getByLabel("Name");
  await name.fill("Kept");
  await signOut(await openTab());
  const save = page.getByRole("dialog").getByRole("button", { name: "Create" });
  await save.click();
  await page.getByText("The session has ended; sign in again.").waitFor();
  await page.getByText("Anna is not signed in any more").waitFor();
  const opened = page.waitForEvent("popup");
  await page.getByRole("dialog").getByRole("link", { name: "Sign in in another tab" }).click();
  await signIn(await opened, anna);
  expect(await name.inputValue()).toBe("Kept");
  await save.click();
  await page.getByRole("heading", { level: 1, name: "Kept" }).waitFor();
});

test("what is entered in an organisation that gets another short name stays, is saved, and leads to its new address", async () => {
  const { id, slug } = await world.createOrganisation("Renamed meanwhile");
  const { page, open } = await world.visit();
  await open(`/o/${slug}/data-pools?new=pool`);
  const name = page.getByRole("dialog").getByLabel("Name");
  await name.fill("Kept");
  await callIn(world, id, "PUT", `/organizations/${id}`, { slug: `${slug}-2` });
  await page.waitForResponse(
    async (answer) => answer.url().endsWith("/api/me") && (await answer.text()).includes(`${slug}-2`),
  );
  // Long enough for the page to become another one, if it did.
  await page.waitForTimeout(1000);
  expect(await name.inputValue()).toBe("Kept");
  await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "Kept" }).waitFor();
  expect(new URL(page.url()).pathname).toMatch(`/o/${slug}-2/data-pools/`);
});

test("files that one user has queued are not uploaded in the name of the next one", async () => {
  const { id, slug } = organisation;
  const pool = await callIn(world, id, "POST", "/data-pools", { name: "Queued" });
  const { page } = await openAsAnna(`/o/${slug}/data-pools/${pool["id"]}`);
  const held: (() => void)[] = [];
  await page.route("**/api/uploads/*", async (route) => {
    await new Promise<void>((resolve) => held.push(resolve));
    await route.continue();
  });
  const files = [1, 2, 3, 4, 5].map((number) => ({
    name: `anna-${number}.txt`,
    mimeType: "text/plain",
    buffer: Buffer.from(`of Anna ${number}`),
  }));
  await page.locator("input[type=file]").first().setInputFiles(files);
  await expect.poll(() => held.length).toBe(3);
  await signOut(page);
  await signIn(page, ben);
  const refused: number[] = [];
  page.on("response", (answer) => {
    if (answer.url().includes("/api/uploads")) refused.push(answer.status());
  });
  for (const go of held.splice(0)) go();
  await expect.poll(() => refused.length).toBe(5);
  expect(refused).toEqual([401, 401, 401, 401, 401]);
  const listed = await callIn<{ items: readonly object[] }>(
    world,
    id,
    "GET",
    `/data-pools/${pool["id"]}/files`,
  );
  expect(listed.items).toEqual([]);
});

test("the cache of a browser has nothing of a user who has signed out", async () => {
  const { id, slug } = organisation;
  await callIn(world, id, "PUT", "/variables/OF_ANNA", { value: "value-of-anna" });
  const { page } = await openAsAnna("/account");
  const urls = new Set<string>();
  page.on("request", (request) => void urls.add(request.url()));
  await page.goto(new URL(`/o/${slug}/settings`, page.url()).href);
  await page.getByText("value-of-anna").first().waitFor();
  await signOut(page);
  const found = await page.evaluate(
    (all) =>
      Promise.all(
        all.map((url) =>
          fetch(url, { cache: "only-if-cached", mode: "same-origin" }).then(
            (answer) => (answer.ok ? url : ""),
            () => "",
          ),
        ),
      ),
    // What anybody may know is asked for without a session as well.
    [...urls].filter((url) => /\/(?:api|quantum)\/(?!configuration)/u.test(url)),
  );
  expect(found.length).toBeGreaterThan(2);
  expect(found.filter((url) => url !== "")).toEqual([]);
});
