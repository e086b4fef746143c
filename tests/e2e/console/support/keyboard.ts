import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** More than any page has that can be focused. */
const MOST_STOPS = 120;

type Role = "link" | "button" | "tab" | "checkbox" | "radio" | "region" | "combobox";

/** A page that is used by its keys alone. */
interface Keys {
  /** Stops so far at which the focus could not be seen. */
  readonly unseen: readonly string[];
  /** Goes on by Tab, or backwards, until something has the focus. Where a dialog is open, it is looked for in there. */
  readonly tabTo: (role: Role, name: string, by?: "Tab" | "Shift+Tab") => Promise<void>;
  /** Goes on by Tab, and presses a key there. */
  readonly press: (role: Role, name: string, key?: string) => Promise<void>;
  /** Waits until something has the focus, without a key, and would take the next key. */
  readonly awaitFocus: (target: Locator) => Promise<void>;
  /** Waits until the page has this title, and the focus there: a page that has just been drawn takes it from what Tab has reached. */
  readonly awaitTitle: (name: string) => Promise<void>;
  /** Goes to a page of the menu by `g` and its letter. */
  readonly goTo: (letter: string, title: string) => Promise<void>;
}

/** The letter has to come so soon after `g` (util/use-keys.ts). */
const SEQUENCE_MS = 1_500;

/** Goes to a page of the menu by `g` and its letter; again where the letter came too late. */
export async function goByKeys(page: Page, letter: string, title: string): Promise<void> {
  const press = async () => {
    const before = performance.now();
    await page.keyboard.press("g");
    await page.keyboard.press(letter);
    return performance.now() - before < SEQUENCE_MS;
  };
  await expect.poll(press).toBe(true);
  await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
}

/** The keys of a page, and what cannot be seen on the way. */
export function takeKeys(page: Page): Keys {
  const unseen: string[] = [];
  const note = async () => {
    const fault = await page.evaluate(explainFocus);
    if (fault !== null) unseen.push(fault);
  };
  const tabTo: Keys["tabTo"] = async (role, name, by = "Tab") => {
    const dialog = page.getByRole("dialog");
    const place = (await dialog.count()) > 0 ? dialog : page;
    const target = place.getByRole(role, { name, exact: true }).first();
    for (let count = 0; count < MOST_STOPS; count += 1) {
      await page.keyboard.press(by);
      await note();
      if (await target.evaluate(isFocused)) return;
    }
    throw new Error(`${by} does not lead to ${String(target)}`);
  };
  const awaitTitle: Keys["awaitTitle"] = async (name) => {
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
    // Set together with the focus (ui/page-header.tsx).
    await expect.poll(() => page.title()).toBe(`${name} · Platform`);
  };
  return {
    unseen,
    tabTo,
    awaitTitle,
    goTo: async (letter, title) => {
      await goByKeys(page, letter, title);
      await awaitTitle(title);
    },
    press: async (role, name, key = "Enter") => {
      await tabTo(role, name);
      await expect.poll(() => page.locator(":focus").evaluate(isReady)).toBe(true);
      await page.keyboard.press(key);
    },
    awaitFocus: async (target) => {
      await target.waitFor();
      await expect.poll(() => target.evaluate(isReady)).toBe(true);
      await note();
    },
  };
}

/** In the browser. */
function isFocused(element: Element): boolean {
  return element === document.activeElement;
}

/** In the browser: whether it has the focus and takes keys. A button that loads keeps the focus, and ignores keys. */
function isReady(element: Element): boolean {
  return element === document.activeElement && !element.hasAttribute("data-loading");
}

/** Why one cannot see what has the focus; null: one can. Runs in the page. */
function explainFocus(): string | null {
  const focused = document.activeElement;
  if (!(focused instanceof HTMLElement) || focused === document.body) return null;
  const name = focused.outerHTML.slice(0, 160);
  const { outlineStyle, outlineWidth } = getComputedStyle(focused);
  // A field within a label or a box may show it on what surrounds it.
  const hasRing = outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2;
  if (!hasRing) return `no ring: ${name}`;
  const { left, top, right, bottom } = focused.getBoundingClientRect();
  if (right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight)
    return `not in the window: ${name}`;
  const x = Math.min(Math.max((left + right) / 2, 0), innerWidth - 1);
  const y = Math.min(Math.max((top + bottom) / 2, 0), innerHeight - 1);
  const shown = document.elementFromPoint(x, y);
  // A checkbox lies below the picture of its tick, and a field may be named by its label.
  const mayShow = [focused, focused.parentElement, focused.closest("label")];
  const isSeen = shown === null || shown.contains(focused) || mayShow.some((one) => one?.contains(shown));
  return isSeen ? null : `covered by ${shown.outerHTML.slice(0, 80)}: ${name}`;
}
