import { afterEach, beforeEach, expect, test } from "vitest";
import { createCliHome } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";
import { TOKEN, startPlatformPeer } from "../testing/platform-peer.ts";
import type { PlatformPeer } from "../testing/platform-peer.ts";
import { USAGE } from "../testing/usage.ts";

let home: CliHome;
let peer: PlatformPeer;

beforeEach(async () => {
  [home, peer] = await Promise.all([createCliHome(), startPlatformPeer()]);
});
afterEach(() => Promise.all([home.close(), peer.close()]));

const run = (...words: string[]) =>
  home.run(["usage", ...words], {
    variables: { PLATFORM_ENDPOINT: peer.url, PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN },
  });

test("usage shows what was used and what it costs, of the days and the side that the options say", async () => {
  const period = ["--from", "2026-10-01", "--to", "2026-10-31"];
  const { exitCode, stdout } = await run("--by", "subscription", "--side", "provider", ...period);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /SUBSCRIPTION +EXECUTIONS .* COST\n.* 0\.25 +12\.5 +9\.9025 EUR \+ 0\.000369 USD\n.* -\n/u,
  );
  const [request = ""] = peer.requests;
  expect(Object.fromEntries(new URL(request.split(" ")[1] ?? "", peer.url).searchParams)).toEqual({
    limit: "100",
    from: "2026-10-01",
    to: "2026-10-31",
    by: "subscription",
    side: "provider",
  });
  expect(JSON.parse((await run("--json")).stdout)).toEqual(USAGE);
  expect((await run("--by", "input")).exitCode).toBe(2);
});

test("usage --csv has a column for each currency, and leaves nothing for a spreadsheet to compute", async () => {
  const { stdout } = await run("--csv");
  expect(stdout.trimEnd().split("\n")).toEqual([
    "key,label,executions,succeeded,failed,unknown,notCharged,cpuSeconds,gbSeconds,cost EUR,cost USD",
    `subscription-1,"'=HYPERLINK(""x"",""y"") / shop / tsp",3,2,0,1,1,0.25,12.5,9.9025,0.000369`,
    "subscription-2,Lab / planner / tsp,1,1,0,0,0,0,0,0,0",
  ]);
});

test("usage from a day after the last one is refused before it is asked for", async () => {
  const { exitCode, stderr } = await run("--from", "2026-10-31", "--to", "2026-10-01");
  expect(exitCode).toBe(2);
  expect(stderr).toContain("--from 2026-10-31 is after --to 2026-10-01.");
  expect(peer.requests).toEqual([]);
});
