import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { createFixture, waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

let fixture: Fixture;
afterEach(() => {
  vi.restoreAllMocks();
  return fixture.close();
});

/** Processes of the fixture's runtime: without a sandbox each of them has our folder in its command line. */
function countProcesses(): number {
  return readdirSync("/proc").filter((name) => {
    try {
      return (
        /^\d+$/u.test(name) &&
        readFileSync(`/proc/${name}/cmdline`, "latin1").includes(`${fixture.directory}/run/runner`)
      );
    } catch {
      return false;
    }
  }).length;
}

const PROGRAM = "import os\nZYGOTE = os.urandom(8).hex()\ndef run():\n    return ZYGOTE";

test("the Python half is compiled at the start, not while the first execution waits", async () => {
  fixture = await createFixture();
  const compiled = `${fixture.directory}/run/runner/service_runner/__pycache__`;
  // The folder is there a moment before the first file.
  const countFiles = (): number => (existsSync(compiled) ? readdirSync(compiled).length : 0);
  await expect.poll(countFiles).toBeGreaterThan(0);
});

test("idle children go first, then the zygote; the next run boots another", { tags: "full" }, async () => {
  fixture = await createFixture({ idleSeconds: 0.6 }, "D");
  const version = fixture.createVersion(PROGRAM);
  const first = await fixture.finish(version);
  await waitFor("children are kept ready", () => countProcesses() >= 3);
  await waitFor("the idle children are gone", () => countProcesses() === 1);
  expect((await fixture.finish(version)).result).toEqual(first.result);
  await waitFor("the zygote is gone", () => countProcesses() === 0);
  expect((await fixture.finish(version)).result).not.toEqual(first.result);
});

test("a host's clock that is set ends nothing that is being made ready", async () => {
  fixture = await createFixture();
  const version = fixture.createVersion("import time\ntime.sleep(3)\ndef run():\n    return 1", {
    startMode: "spawn",
  });
  const run = fixture.start(version);
  await expect.poll(countProcesses).toBeGreaterThan(0);
  const now = Date.now.bind(Date);
  vi.spyOn(Date, "now").mockImplementation(() => now() + 3_600_000);
  expect(await run.outcome).toMatchObject({ status: "SUCCEEDED" });
});

test("above the cap the zygote that was used longest ago ends, never one that runs something", async () => {
  fixture = await createFixture({ maxZygotes: 2 });
  const versions = [1, 2, 3].map(() => fixture.createVersion(PROGRAM));
  const busy = fixture.start(
    fixture.createVersion("import time\ndef run():\n    time.sleep(2)\n    return 1"),
  );
  const results = [];
  for (const version of [...versions, ...versions])
    results.push(JSON.stringify((await fixture.finish(version)).result));
  expect(new Set(results).size).toBe(6);
  expect(await busy.outcome).toMatchObject({ status: "SUCCEEDED" });
});

test("a version that is used again and again stays warm while others come and go", async () => {
  fixture = await createFixture({ maxZygotes: 2 });
  const hot = fixture.createVersion(PROGRAM);
  const results = [];
  for (let round = 0; round < 3; round += 1) {
    results.push(JSON.stringify((await fixture.finish(hot)).result));
    await fixture.finish(fixture.createVersion(PROGRAM));
  }
  expect(new Set(results).size).toBe(1);
});

test("closing does not wait for a version that was being retired", async () => {
  fixture = await createFixture();
  const version = fixture.createVersion("import time\ndef run():\n    print('begun')\n    time.sleep(60)");
  const run = fixture.start(version);
  await waitFor("the run has begun", () => run.lines.length > 0);
  const retired = fixture.runtime.retire(version.id);
  await fixture.runtime.close();
  await retired;
  expect(await run.outcome).toMatchObject({ status: "UNKNOWN", code: "WORKER_LOST" });
});

test("a run directory that cannot work is refused with the reason", async () => {
  fixture = await createFixture();
  await expect(createFixture({ runDirectory: "relative" })).rejects.toThrow(/must be absolute/u);
  await expect(createFixture({ runDirectory: `/tmp/${"x".repeat(100)}` })).rejects.toThrow(
    /at most 80 bytes/u,
  );
});

test.runIf(process.getuid?.() === 0)(
  "a run directory below a folder that is closed to the users of versions is refused, except where versions have none",
  async () => {
    const closed = mkdtempSync(join(tmpdir(), "closed-"));
    const runDirectory = join(closed, "open", "run");
    try {
      await expect(createFixture({ runDirectory }, "C")).rejects.toThrow(
        `${closed} is closed to the uids that versions run as: choose a run directory elsewhere, or chmod o+x it`,
      );
      fixture = await createFixture({ runDirectory }, "D");
      await fixture.close();
    } finally {
      rmSync(closed, { recursive: true });
    }
  },
);

test("retiring ends although the import fails that an execution waits for", async () => {
  fixture = await createFixture();
  const version = fixture.createVersion("import time\ntime.sleep(0.3)\nraise RuntimeError('no licence')");
  const run = fixture.start(version);
  await fixture.runtime.retire(version.id);
  expect(await run.outcome).toMatchObject({ status: "FAILED", code: "STARTUP_ERROR" });
});

test("idle children that are said to have exited are ended: none is left behind", async () => {
  fixture = await createFixture({}, "D");
  const version = fixture.createVersion(`
import json, os, signal
def lie(*_):
    for id in range(1, 100):
        event = {"event": "exit", "id": id, "code": 0, "signal": None}
        os.write(3, json.dumps(event).encode() + b"\\n")
signal.signal(signal.SIGUSR1, lie)
def run():
    os.kill(os.getppid(), signal.SIGUSR1)
    return 1
`);
  for (let round = 0; round < 10; round += 1) await fixture.finish(version);
  await expect.poll(countProcesses).toBeLessThanOrEqual(1 + 2); // the zygote, and what is made ahead
});

test("zygotes that take more memory than they may end, the least recently used first", async () => {
  fixture = await createFixture({ zygoteMemoryBytes: 170 * 1024 ** 2 });
  const program = `import os\nKEPT = bytearray(os.urandom(60_000_000))\n${PROGRAM}`;
  const versions = [1, 2, 3].map(() => fixture.createVersion(program));
  const first = [];
  for (const version of versions) first.push((await fixture.finish(version)).result);
  await waitFor("one of the three is gone", () => readdirSync(`${fixture.directory}/run/z`).length === 2);
  const second = [];
  for (const version of versions.toReversed()) second.unshift((await fixture.finish(version)).result);
  expect(second.slice(1)).toEqual(first.slice(1));
  expect(second[0]).not.toEqual(first[0]);
});
