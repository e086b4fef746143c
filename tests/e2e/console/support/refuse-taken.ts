import type { Page } from "playwright-core";

/**
 * Fills in the form that sets a new one of what there is already: the form says where the other one is changed, since the new one would take
 * its place, and is left.
 */
export async function refuseTaken(
  page: Page,
  button: string,
  fields: Readonly<Record<string, string>>,
): Promise<void> {
  const dialog = page.getByRole("dialog", { name: button });
  await page.getByRole("button", { name: button }).click();
  for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value);
  await dialog.getByRole("button", { name: "Set" }).click();
  await dialog.getByText(/^There is a .* already: "(Change|Replace)" in its row sets another/u).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Leave" }).click();
  await dialog.waitFor({ state: "detached" });
}
