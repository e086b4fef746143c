import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../../tools/platform-client.ts";
import { joinConsole } from "./support/open-console.ts";
import { findTraces } from "./support/traces.ts";
import type { ConsoleWorld } from "./support/open-console.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await joinConsole();
});
afterAll(() => world.close());

test("a personal access token is made with the scopes that were chosen, kept by nothing of the page, and refused once it is revoked", async () => {
  const { page, open, complaints } = await world.visit();
  await open("/account/tokens?new=token");
  await page.getByRole("dialog").getByRole("combobox", { name: "Scopes" }).press("ArrowDown");
  for (const name of [/^read:/u, /^deploy:/u]) await page.getByRole("option", { name }).click();
  // Leaving the field closes its list.
  await page.getByRole("dialog").getByLabel("Name").fill("from the story");
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "The new token" });
  await dialog.waitFor();
  const [token = ""] = await dialog.locator("dd .mono").allTextContents();
  const ask = async (method: string, path: string, json?: unknown) => {
    const answer = await request(method, `${world.login.apiUrl}/api${path}`, {
      token,
      ...(json === undefined ? {} : { json }),
    });
    return answer.status;
  };
  expect(await ask("GET", "/me")).toBe(200);
  expect(await ask("PUT", "/me", { name: "taken" })).toBe(403);
  // What it was chosen instead of would open this.
  expect(await ask("POST", "/applications", { name: "too much" })).toBe(403);
  await dialog.getByLabel("I have stored it").check();
  await dialog.getByRole("button", { name: "Close" }).click();
  await expect.poll(() => findTraces(page, token)).toEqual([]);
  const row = page.getByRole("row").filter({ hasText: "from the story" });
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row.waitFor({ state: "detached" });
  await expect.poll(() => ask("GET", "/me")).toBe(401);
  expect(complaints).toEqual([]);
});

test("a session that is ended from another browser is thrown out by itself, within seconds", async () => {
  const { slug } = await world.createOrganisation("Watched");
  const other = await world.visit({ hasOwnSession: true });
  await other.open(`/o/${slug}`);
  await other.page.getByText("First steps").waitFor();
  const { page, open, complaints } = await world.visit();
  await open("/account/sessions");
  await page.getByText("This one").waitFor();
  const row = page.getByRole("row").filter({ has: page.getByRole("button", { name: "End" }) });
  await row.first().getByRole("button", { name: "End" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await other.page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  expect(await other.page.getByText("First steps").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test(
  "the user's new name is shown at once, and the console is found by keys alone",
  { tags: "full" },
  async () => {
    const { page, open, complaints } = await world.visit();
    await open("/account");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Ada of the story");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Account of Ada of the story" }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find a page" }).fill("applic");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Applications" }).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/o\/[a-z0-9-]+$/u);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    expect(complaints).toEqual([]);
  },
);
