import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { findChromium } from "./chromium.ts";

test("there is a browser for the stories of the console", ({ skip }) => {
  const chromium = findChromium();
  skip(
    chromium === null,
    "no Chromium, so they are all left out: sh tools/install-chromium.sh as root, where there is apt-get",
  );
  const version = execFileSync(chromium ?? "", ["--version", "--no-sandbox"], { encoding: "utf8" });
  expect(version).toMatch(/chrom/iu);
});
