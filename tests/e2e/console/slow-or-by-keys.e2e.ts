import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readBudget } from "../../../tools/console-budget.ts";
import { REPOSITORY } from "../../../tools/platform-process.ts";
import { tabTo } from "./support/keyboard.ts";
import { openConsole } from "./support/open-console.ts";
import type { ConsoleWorld } from "./support/open-console.ts";
import { openThrottled } from "./support/throttled.ts";

const PROGRAM = `
def run(data: dict[str, int]) -> int:
    return sum(data.values())
`;
let world: ConsoleWorld;
let slug: string;
/** Of the organisation. */
let name: string;
beforeAll(async () => {
  world = await openConsole();
  const { body } = await world.api<{ organization: { slug: string; name: string } }>("GET", "/me");
  ({ slug, name } = body.organization);
  await world.deploy(
    await world.createProject("adding", PROGRAM, { "input/data.json": '{"one": 1, "two": 2}' }),
  );
});
afterAll(() => world?.close());

test("by keys alone one signs in, tries a service and reads its result, makes an application and a key, and sees the focus all along", async () => {
  const { page, open } = await world.visit({ as: null });
  const unseen: string[] = [];
  const press = async (role: "link" | "button" | "tab" | "checkbox", name: string, key = "Enter") => {
    await tabTo(page, page.getByRole(role, { name, exact: true }).first(), unseen);
    await page.keyboard.press(key);
  };
  const title = (name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  await open("/sign-in");
  const email = page.getByLabel("Email address");
  await expect.poll(() => email.evaluate((field) => field === document.activeElement)).toBe(true);
  await page.keyboard.type(world.login.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(world.login.password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/o\//u);

  await press("link", "Services");
  await title("Services");
  await press("link", "adding");
  await title("adding");
  await press("link", "Try it");
  await title("Try adding");
  await press("button", "Run");
  await page.waitForURL(/\/executions\/[0-9a-f-]{36}/u);
  await page.getByText("Succeeded").first().waitFor();
  await tabTo(page, page.getByRole("tab", { name: "Result" }), unseen);
  for (const tab of ["Input", "Files (0)", "Log"]) {
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => page.getByRole("tab", { name: tab }).getAttribute("aria-selected")).toBe("true");
  }

  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await title("Applications");
  await press("button", "New application");
  await page.getByRole("dialog", { name: "New application" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("New application");
  await page.keyboard.press("Enter");
  const field = page.getByRole("dialog").getByLabel("Name");
  await field.waitFor();
  await expect.poll(() => field.evaluate((field) => field === document.activeElement)).toBe(true);
  await page.keyboard.type("by keys");
  await page.keyboard.press("Enter");
  await title("by keys");
  await tabTo(page, page.getByRole("tab", { name: "Subscriptions" }), unseen);
  await page.keyboard.press("ArrowRight");
  await press("button", "New key");
  await page.getByRole("dialog", { name: "New access key" }).waitFor();
  await press("button", "Create key");
  await page.getByRole("dialog", { name: "The new access key" }).waitFor();
  await press("checkbox", "I have stored it", "Space");
  await press("button", "Close");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(unseen).toEqual([]);
});

test("on a slow machine behind a slow line the first page asks for little and stays where it is", async () => {
  const { firstPage } = await readBudget(join(REPOSITORY, "packages/console"));
  const { apiUrl } = world.platform;
  for (const { url, heading, as } of [
    { url: `${apiUrl}/sign-in`, heading: "Sign in", as: null },
    { url: `${apiUrl}/o/${slug}`, heading: name, as: world.login },
    { url: `${apiUrl}/o/${slug}/services`, heading: "Services", as: world.login },
  ]) {
    const { context } = await world.visit({ as });
    const opened = await openThrottled(context, url, heading);
    await context.close();
    expect(opened.requests).toBeLessThanOrEqual(firstPage.requests);
    expect(opened.apiRequestsBefore).toBeGreaterThan(0);
    expect(opened.apiRequestsBefore).toBeLessThanOrEqual(firstPage.apiRequestsBefore);
    expect(opened.apiRequests).toBeLessThanOrEqual(firstPage.apiRequests);
    expect(opened.layoutShift).toBeLessThanOrEqual(firstPage.layoutShift);
  }
});
