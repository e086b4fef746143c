/**
 * `node bench/console.ts`: how long the first page of the console takes on a slow machine behind a slow line, next to a page that has as much
 * script and does nothing, in turns; and what takes the processor rather than the line, next to fixed work in that page. Needs the browser
 * of the stories (tools/install-chromium.sh); takes two minutes.
 *
 *   node bench/console.ts [--turns 5]
 */
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { execPath, stdout } from "node:process";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { openProfile, provideBrowser } from "../tests/e2e/console/support/browser.ts";
import { readFixedWork, readPaintTimes, watchTasks } from "../tests/e2e/console/support/paint-times.ts";
import type { PaintTimes } from "../tests/e2e/console/support/paint-times.ts";
import { openThrottled } from "../tests/e2e/console/support/throttled.ts";
import { createWorld } from "../tests/support/world.ts";
import { readBudget } from "../tools/console-budget.ts";
import { REPOSITORY } from "../tools/platform-process.ts";
import { round } from "./load.ts";
import { median, report } from "./report.ts";

const { values: flags } = parseArgs({ options: { turns: { type: "string", default: "5" } } });

/** Serves a page that has so many bytes of script and does nothing with them: what the line alone takes. */
async function serveBarePage(scriptBytes: number): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    if (request.url === "/script.js") {
      response.setHeader("content-type", "text/javascript");
      response.end(`//${"x".repeat(scriptBytes - 2)}`);
    } else {
      response.setHeader("content-type", "text/html");
      response.end(`<!doctype html><script src="/script.js"></script><h1>Bare</h1>`);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

/** Times beside what fixed work took in the same run. They have no bound yet: it would come from a quiet machine. */
function reportPaintTimes(times: readonly PaintTimes[], workMs: number): void {
  stdout.write(`       fixed work in the bare page: ${round(workMs)} ms\n`);
  for (const [name, words] of [
    ["firstPaintMs", "first paint"],
    ["longestTaskMs", "the longest task while it opens"],
    ["navigationMs", "to a page that was open before"],
    ["interactionMs", "from a click to what is painted next"],
  ] as const) {
    const ms = median(times.map((one) => one[name]));
    stdout.write(`       ${words}: ${round(ms)} ms, ${round(ms / workMs)} times the fixed work\n`);
  }
}

spawnSync(execPath, ["tools/build-console.ts"], { cwd: REPOSITORY, stdio: "inherit" });
const { entryScriptBytes, firstPage } = await readBudget(join(REPOSITORY, "packages/console"));
const [world, browser, bare] = await Promise.all([
  createWorld(),
  provideBrowser(),
  serveBarePage(entryScriptBytes),
]);
try {
  const { apiUrl } = world.platform;
  const { body } = await world.api<{ organization: { slug: string } }>("GET", "/me");
  const pages = [
    { url: bare.url, heading: "Bare", as: null },
    { url: `${apiUrl}/sign-in`, heading: "Sign in", as: null },
    { url: `${apiUrl}/o/${body.organization.slug}/services`, heading: "Services", as: world.login },
  ];
  const times: number[][] = pages.map(() => []);
  const works: number[] = [];
  const paints: PaintTimes[] = [];
  const look = async (page: Page, heading: string) => {
    if (heading === "Bare") works.push(await readFixedWork(page));
    if (heading === "Services") paints.push(await readPaintTimes(page, heading, "Applications"));
  };
  for (let turn = 0; turn < Number(flags.turns); turn += 1)
    for (const [index, { url, heading, as }] of pages.entries()) {
      const context = await openProfile(apiUrl, { as });
      await watchTasks(context);
      const { ms } = await openThrottled(context, url, heading, (page) => look(page, heading));
      times[index]?.push(ms);
      await context.close();
    }
  const [line = Number.NaN, ...own] = times.map((all) => median(all));
  stdout.write(`       a page with as much script that does nothing: ${round(line)} ms\n`);
  for (const [index, ms] of own.entries()) {
    const { heading } = pages[index + 1] ?? { heading: "" };
    stdout.write(`       ${heading}: ${round(ms)} ms\n`);
    report(`${heading}, times a page that does nothing`, ms / line, { atMost: firstPage.timesOfBarePage });
  }
  reportPaintTimes(paints, median(works));
} finally {
  bare.close();
  await browser.close();
  await world.close();
}
