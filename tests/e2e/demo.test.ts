import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { REPOSITORY } from "../../tools/platform-process.ts";
import { findProcesses } from "../support/world.ts";
import { IS_FULL_LENGTH } from "../support/full-length.ts";

const run = promisify(execFile);
const TIMES = IS_FULL_LENGTH ? 2 : 1;

test("the demo reaches the cap of another organisation's plan, at full length also the second time", async () => {
  const directory = await mkdtemp(join(tmpdir(), "platform-demo-"));
  try {
    for (let time = 1; time <= TIMES; time += 1) {
      // It exits with 1 where a step was not answered as it says.
      const { stdout } = await run("npm", ["run", "demo", "--silent", "--", directory], { cwd: REPOSITORY });
      expect(stdout.match(/X-Quota-Remaining: \d/g)).toEqual(
        [2, 1, 0, 0].map((left) => `X-Quota-Remaining: ${left}`),
      );
      expect(stdout).toContain("429 QUOTA_EXCEEDED");
      // By reference to a file of a data pool, with the tour that the same cities by value have.
      const [, , third] = stdout.match(/a tour of 52 cities, \d+ long/gu) ?? [];
      expect(third).toMatch(/^a tour of 52 cities, 7[5-6]\d\d long$/u);
      expect(stdout).toMatch(/PUT .*berlin52\.json/u);
      expect(stdout).toContain("POST .../ with dataRef");
      expect(stdout.split("\n").length).toBeLessThan(66);
      // What it ends with is what one goes on with.
      expect(stdout).toMatch(
        /The console, in a browser: {2}http:\/\/127\.0\.0\.1:\d+\n +login +\S+@\S+, password \S+\n/u,
      );
    }
    expect(await findProcesses(directory)).toEqual([]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
