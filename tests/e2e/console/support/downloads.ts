import type { Page } from "playwright-core";

/** The file that a button of the page brings. */
export async function save(
  page: Page,
  button: string,
): Promise<{ readonly name: string; readonly path: string }> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button, exact: true }).click(),
  ]);
  return { name: download.suggestedFilename(), path: await download.path() };
}
