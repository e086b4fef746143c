import { afterEach, expect, test } from "vitest";
import { createCliHome } from "../testing/cli-process.ts";
import { serveProject } from "../testing/served-project.ts";
import type { ServedProject } from "../testing/served-project.ts";
import { parseFaults } from "./fault-table.ts";

const PROGRAM = "def run():\n    return {'n': 1}\n";

let project: ServedProject | undefined;
afterEach(async () => {
  await project?.close();
  project = undefined;
});

const serve = async (faults: string, seed = 7) => {
  project = await serveProject(PROGRAM, { flags: ["--fault", faults, "--fault-seed", String(seed)] });
  return project;
};
/** What the code ended with, or SUCCEEDED. */
const run = async (served: ServedProject) => {
  const { body } = await served.start({}, true);
  const result = await served.call(`/${String(body["id"])}/result`);
  return { ...result, id: String(body["id"]), status: String(body["status"]), http: result.status };
};

test("faults are read with duration and share, and none is taken for another", () => {
  expect(parseFaults("worker-lost@30%, slow-start=1.5s,429@0.5%,slow-answer=250ms")).toMatchObject([
    { name: "worker-lost", share: 0.3, durationMs: 0 },
    { name: "slow-start", share: 1, durationMs: 1_500 },
    { name: "429", share: 0.005, durationMs: 0 },
    { name: "slow-answer", share: 1, durationMs: 250 },
  ]);
});

test.each([
  ["worker-losst", "'worker-losst' is not known", "worker-lost"],
  ["429,,unavailable", "'' is not known", "slow-start"],
  ["constructor", "'constructor' is not known", "unavailable"],
  ["429@0%", "above 0% and at most 100%", ""],
  ["429@101%", "above 0% and at most 100%", ""],
  ["429=2s", "429 has no duration", "429 takes a share as in 429@30%"],
  ["slow-start=2x", "'=2x' cannot follow slow-start", "slow-start=2s or slow-start=500ms"],
  ["slow-start=2h", "'=2h' cannot follow slow-start", "a share as in slow-start@30%"],
  ["worker-lost@30", "'@30' cannot follow worker-lost", "a share as in worker-lost@30%"],
  ["slow-strat=2s", "'slow-strat' is not known", "slow-start"],
  ["slow-start=3601s", "an hour at most", ""],
  ["429,429@2%", "names 429 twice", ""],
])("serve --fault '%s' is refused before anything is prepared", async (text, reason, known) => {
  const home = await createCliHome();
  const { exitCode, stderr } = await home.run(["serve", "--fault", text]);
  await home.close();
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(reason)]);
  expect(stderr).toContain(known);
});

test(
  "the nth execution has the same fate for the same seed, whatever was asked in between",
  { tags: "full" },
  async () => {
    const fates: string[][] = [];
    for (const [seed, isAsking] of [
      [7, false],
      [7, true],
      [8, false],
    ] as const) {
      const served = await serve("worker-lost@40%,cancelled@40%,unavailable@1%", seed);
      const seen: string[] = [];
      for (let count = 0; count < 12; count += 1) {
        if (isAsking) await served.call("/?limit=1");
        const { body } = await run(served);
        const { code = "SUCCEEDED" } = body as { readonly code?: string };
        seen.push(code);
      }
      fates.push(seen);
      await served.close();
      project = undefined;
    }
    const [first, second, other] = fates;
    expect(second).toEqual(first);
    expect(other).not.toEqual(first);
    expect(new Set(first)).toEqual(new Set(["WORKER_LOST", "CANCELLED", "SUCCEEDED"]));
  },
);

test(
  "a lost worker, a late start and an expired result look as on a platform",
  { tags: "full" },
  async () => {
    const served = await serve("worker-lost,slow-start=8s,result-expired");
    const { body } = await served.start({});
    const id = String(body["id"]);
    expect((await served.call(`/${id}`)).body).toMatchObject({ status: "PENDING" });
    const ended = await served.call(`/${id}`, { headers: { prefer: "wait=20" } });
    expect(ended.body).toMatchObject({ status: "UNKNOWN", terminal: true });
    const [from, to] = ["createdAt", "startedAt"].map((name) => Date.parse(`${String(ended.body[name])}Z`));
    expect((to ?? 0) - (from ?? 0)).toBeGreaterThanOrEqual(8_000);
    for (const path of ["result", "log", "receipt"])
      expect(await served.call(`/${id}/${path}`)).toMatchObject({
        status: 410,
        body: { code: "RESULT_EXPIRED" },
      });
    expect((await served.call(`/${id}`)).status).toBe(200);
  },
);

test.each([
  ["429", 429, "RATE_LIMITED"],
  ["quota-exceeded", 429, "QUOTA_EXCEEDED"],
  ["unavailable", 503, "UNAVAILABLE"],
  ["unauthenticated", 401, "UNAUTHENTICATED"],
  ["internal-error", 500, "INTERNAL_ERROR"],
])("%s refuses a start and leaves the documentation alone", async (name, status, code) => {
  const served = await serve(`${name},slow-answer=1ms`);
  const refused = await served.start({});
  expect(refused).toMatchObject({ status, body: { code } });
  expect(refused.headers.get(status === 401 ? "www-authenticate" : "retry-after")).not.toBeNull();
  expect((await served.call("/openapi.json")).status).toBe(200);
});

test("a lost answer breaks the connection of a start that was accepted", async () => {
  const served = await serve("lost-answer");
  await expect(served.start({})).rejects.toThrow("fetch failed");
  const list = await fetch(`${served.url}/`);
  expect(await list.json()).toHaveLength(1);
});
