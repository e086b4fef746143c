import type { Locator } from "playwright-core";
import { expect } from "vitest";

/** What is said of a button that is of no use to whoever comes to it by the keyboard. */
export async function readWhy(button: Locator, where: string): Promise<string> {
  const page = button.page();
  // What lies under the mouse says something of itself, too.
  await page.mouse.move(0, 0);
  // After a click the focus is not shown, and nothing is said of what has it: a key comes before.
  await page.keyboard.press("Shift");
  let id: string | null = null;
  // A dialog that has just opened takes the focus for what it begins with.
  const described = async () => {
    // Whoever has clicked it has been there before it was of no use.
    await button.blur();
    await button.focus();
    id = await button.getAttribute("aria-describedby");
    return id;
  };
  await expect.poll(described, { message: `${where} says why it is of no use` }).not.toBeNull();
  const why = await page.locator(`[id="${id}"]`).textContent();
  await button.blur();
  return why ?? "";
}
