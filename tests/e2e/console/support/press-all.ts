import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Visit } from "./open-console.ts";
import { readWhy } from "./read-why.ts";
import { goTo } from "./routes.ts";
import { waitUntilSettled, watchRequests } from "./settled.ts";

/** What changes the viewer's own membership alone, and what only reads. */
const OPEN_TO_VIEWERS = /^Leave |^Copy|^Messages |^Use a file of a data pool$/u;

/** Why a button is of no use: the viewer's role, or what is true for anyone. */
const REASONS = /this needs the role|organisation|^The input is that of the example\.$/u;

/** A page, and what waits until it has all that it asks for: what is behind a tab is asked for when it is opened. */
interface Pressed {
  readonly page: Page;
  readonly settle: () => Promise<void>;
  /** What buttons say that are of no use. */
  readonly reasons: string[];
}

/**
 * Takes paths until there are none left, in a window of its own. What is wrong there: with a button, what was refused, and complaints of
 * the browser.
 *
 * @param reasons takes what buttons say that are of no use
 */
export async function pressAll(visit: Visit, paths: string[], reasons: string[]): Promise<readonly string[]> {
  const { context, page, open, complaints } = visit;
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403)
      refused.push(`${page.url()}: ${response.request().method()} ${response.url()}`);
  });
  const pending = watchRequests(page);
  const pressed = { page, settle: () => waitUntilSettled(page, pending), reasons };
  const faults: string[] = [];
  await open("/");
  for (let path = paths.shift(); path !== undefined; path = paths.shift())
    faults.push(...(await pressEverything(pressed, path)));
  await context.close();
  return [...faults, ...refused, ...complaints];
}

/** Presses every button of the page, in each of its tabs, that is not said to be of no use, and reads why the others are. */
async function pressEverything(pressed: Pressed, path: string): Promise<readonly string[]> {
  const { page, settle } = pressed;
  await goTo(page, path);
  await settle();
  const faults = await pressButtons(pressed);
  const tabs = page.getByRole("main").getByRole("tablist").first().getByRole("tab");
  const count = await tabs.count();
  for (let index = 1; index < count; index++) {
    await tabs.nth(index).click();
    await settle();
    faults.push(...(await pressButtons(pressed)));
  }
  return faults;
}

/** Of the page as it is now, and as it is when one comes back from where a button has led. */
async function pressButtons(pressed: Pressed): Promise<string[]> {
  const { page, settle, reasons } = pressed;
  const path = page.url().slice(new URL(page.url()).origin.length);
  const faults: string[] = [];
  const buttons = page.locator("main button:not([role=tab]):visible");
  for (let index = 0; ; index++) {
    // One that loads is disabled for a moment.
    await expect.poll(() => page.locator("main button[data-loading]").count()).toBe(0);
    const about = await describeButton(buttons, index);
    if (about === null) break;
    const { name, state, opens } = about;
    if (state === "disabled") {
      faults.push(`${path}: ${name} is disabled, which nobody can come to by keys to read why`);
      continue;
    }
    if (state === "of no use") {
      const why = await readWhy(buttons.nth(index), `${path}: ${name}`);
      reasons.push(why);
      if (!REASONS.test(why)) faults.push(`${path}: ${name} says "${why}"`);
      continue;
    }
    await buttons.nth(index).click();
    if (opens === "menu") await closeMenu(page);
    else {
      const title = await closeDialog(page, opens === "dialog");
      if (title !== "" && !OPEN_TO_VIEWERS.test(title)) faults.push(`${path}: ${name} opens "${title}"`);
    }
    if (page.url().endsWith(path)) continue;
    await goTo(page, path);
    await settle();
  }
  // What opens late would lie over the next tab.
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  return faults;
}

/** The button at this place, and whether it can be pressed; null: there are no more. */
function describeButton(buttons: Locator, index: number) {
  return buttons.evaluateAll((all, at) => {
    const button = all[at];
    if (!(button instanceof HTMLButtonElement)) return null;
    const isOfNoUse = button.getAttribute("aria-disabled") === "true";
    return {
      name: (button.getAttribute("aria-label") ?? button.textContent).trim(),
      state: button.disabled ? "disabled" : isOfNoUse ? "of no use" : "open",
      opens: button.getAttribute("aria-haspopup"),
    } as const;
  }, index);
}

/** The title of the dialog that is open, which is closed; empty: there is none. */
async function closeDialog(page: Page, isSure: boolean): Promise<string> {
  const dialog = page.getByRole("dialog");
  // It may be in the address first, and open with the next page.
  if (isSure) await dialog.first().waitFor();
  const isOpen = (await dialog.count()) > 0;
  const title = isOpen ? await dialog.first().getByRole("heading").first().textContent() : "";
  await page.keyboard.press("Escape");
  if (isOpen) await expect.poll(() => dialog.count()).toBe(0);
  return title ?? "";
}

/** A menu is over the page until it has gone, and takes the key only once it has the focus. */
async function closeMenu(page: Page): Promise<void> {
  const menu = page.getByRole("menu");
  await menu.waitFor();
  await expect.poll(() => menu.evaluate((one) => one.contains(document.activeElement))).toBe(true);
  await page.keyboard.press("Escape");
  await menu.waitFor({ state: "hidden" });
}
