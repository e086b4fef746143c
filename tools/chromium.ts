import { existsSync } from "node:fs";
import { env } from "node:process";

/** Where Debian puts it, first the one that has no windows and takes a quarter less of a processor, and the usual places of others. */
const PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** The browser for the stories of the console: that of PLATFORM_TEST_CHROMIUM, or an installed one; null: there is none. */
export function findChromium(): string | null {
  return (
    [env["PLATFORM_TEST_CHROMIUM"] ?? "", ...PLACES].find((path) => path !== "" && existsSync(path)) ?? null
  );
}
