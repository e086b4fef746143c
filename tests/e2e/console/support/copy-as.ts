import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { CLI } from "../../../../tools/platform-process.ts";
import { runShownOk } from "../../../clients/snippet-programs.ts";
import { readClipboard } from "./clipboard.ts";
import type { ConsoleWorld } from "./open-console.ts";

/** Programs that "Copy as" gives and every machine can run; Java's are in tests/clients. */
const LANGUAGES = ["curl", "Python", "JavaScript"] as const;

/** What a choice of "Copy as" puts into the clipboard. */
async function copyAs(page: Page, choice: string): Promise<string> {
  await page.getByRole("button", { name: "Copy as", exact: true }).click();
  await page.getByRole("menuitem", { name: choice, exact: true }).click();
  await page.getByText(`${choice} copied.`, { exact: true }).waitFor();
  return await readClipboard(page.context());
}

/**
 * Runs the programs and the command that the page gives to copy, with the personal access token of the user in the variable that
 * they read it from: what each of them prints, as JSON. The command works in the organisation that its variable says.
 */
export async function runCopied(world: ConsoleWorld, page: Page, organizationId: string) {
  const { directory, login } = world;
  const printed: Record<string, unknown> = {};
  for (const language of LANGUAGES) {
    const program = await copyAs(page, language);
    expect(program).not.toContain(login.personalAccessToken);
    const environment = { PLATFORM_TOKEN: login.personalAccessToken };
    printed[language] = await runShownOk(language, program, directory, environment);
  }
  const command = await copyAs(page, "Command");
  const shell = `platform() { node "$CLI" "$@" --json; }\n${command}`;
  const inShell = await runShownOk("curl", shell, directory, {
    CLI,
    PLATFORM_CONFIG_DIR: join(directory, "copied"),
    PLATFORM_ENDPOINT: login.apiUrl,
    PLATFORM_PERSONAL_ACCESS_TOKEN: login.personalAccessToken,
    PLATFORM_ORGANIZATION_ID: organizationId,
  });
  return { ...printed, command: inShell };
}
