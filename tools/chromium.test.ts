import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { findChromium } from "./chromium.ts";

test("there is a browser for the stories of the console", ({ skip }) => {
  const chromium = findChromium();
  if (chromium === null)
    return skip(
      "no Chromium, so they are all left out: sh tools/install-chromium.sh as root, where there is apt-get",
    );
  expect(execFileSync(chromium, ["--version", "--no-sandbox"], { encoding: "utf8" })).toMatch(/chrom/iu);
});
