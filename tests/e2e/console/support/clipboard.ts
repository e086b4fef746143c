import type { BrowserContext } from "playwright-core";
import { expect } from "vitest";

/** The text in the clipboard, which no page of the console may read: it is pasted elsewhere. */
export async function readClipboard(context: BrowserContext): Promise<string> {
  const paper = await context.newPage();
  const field = paper.locator("textarea");
  await paper.setContent("<textarea></textarea>");
  await field.press("ControlOrMeta+V");
  await expect.poll(() => field.inputValue()).not.toBe("");
  const text = await field.inputValue();
  await paper.close();
  return text;
}
