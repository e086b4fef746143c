import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";

/** Languages of clients: the words of the button, and the language. */
export const LANGUAGES = [
  ["Java", "java"],
  ["Python", "python"],
  ["JavaScript", "javascript"],
] as const;

/** The file that a button of the page brings. */
export async function saveFile(
  page: Page,
  button: string,
): Promise<{ readonly name: string; readonly path: string }> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button, exact: true }).click(),
  ]);
  return { name: download.suggestedFilename(), path: await download.path() };
}

/** The variables of a file of lines NAME=VALUE, such as platform.env. */
export async function readVariables(path: string): Promise<Readonly<Record<string, string>>> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}
