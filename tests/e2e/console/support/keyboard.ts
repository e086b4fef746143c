import type { Locator, Page } from "playwright-core";

/** More than any page has that can be focused. */
const MOST_STOPS = 120;

/** Goes on by Tab until something has the focus. Notes each stop on the way at which the focus cannot be seen. */
export async function tabTo(page: Page, target: Locator, unseen: string[]): Promise<void> {
  for (let count = 0; count < MOST_STOPS; count += 1) {
    await page.keyboard.press("Tab");
    const fault = await page.evaluate(explainFocus);
    if (fault !== null) unseen.push(fault);
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`Tab does not lead to ${String(target)}`);
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
