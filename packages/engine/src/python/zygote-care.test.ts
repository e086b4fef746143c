import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { LogFields } from "../base/logger.ts";
import { findZygote, listChildren } from "../testing/find-zygote.ts";
import { createFixture, waitFor, findTestSandbox } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import { createVersionPools } from "./pool/version-pools.ts";
import { createZygoteFolders } from "./pool/zygote-folders.ts";
import { readSettings } from "./port/settings.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { createPaces } from "./wire/pace.ts";
import { SILENT } from "../testing/silent-logger.ts";

let fixture: Fixture;
afterEach(() => fixture.close());

const ZYGOTE = "import os\nZYGOTE = os.urandom(8).hex()\n";

/** Folders of zygotes, numbered in the order of their starts. */
function listZygotes(): readonly number[] {
  return readdirSync(`${fixture.directory}/run/z`).map(Number);
}

test("a zygote that is old is replaced by one that is ready, and what runs in it goes on", async () => {
  fixture = await createFixture({ times: { maxAgeMs: 2000 } });
  const program =
    "import time\ndef run(data):\n    print('begun')\n    time.sleep(data['seconds'])\n    return ZYGOTE";
  const version = fixture.createVersion(ZYGOTE + program);
  const { result: first } = await fixture.finish(version, { data: { seconds: 0 } });
  const long = fixture.start(version, { data: { seconds: 5 } });
  await waitFor("the run has begun", () => long.lines.length > 0);
  await waitFor("there is another zygote", () => listZygotes().length > 1);
  await expect
    .poll(async () => (await fixture.finish(version, { data: { seconds: 0 } })).result)
    .not.toEqual(first);
  const outcome = await long.outcome;
  expect(outcome).toMatchObject({ status: "SUCCEEDED", result: Buffer.from(JSON.stringify(first)) });
  await waitFor("the old zygote is gone", () => !listZygotes().includes(1));
});

test("a zygote that makes no children any more is replaced before an execution waits for one", async () => {
  fixture = await createFixture({ times: { canaryMs: 300, canaryLateMs: 300 } });
  const stops = `import signal, time
signal.signal(signal.SIGALRM, lambda *_: time.sleep(1000))
signal.setitimer(signal.ITIMER_REAL, 1.5)
def run():
    return ZYGOTE
`;
  const version = fixture.createVersion(ZYGOTE + stops);
  const { result: first } = await fixture.finish(version);
  await waitFor("another zygote has taken over", () => listZygotes().some((zygote) => zygote > 1));
  await waitFor("the stuck one is gone", () => !listZygotes().includes(1));
  // The other one stops as well; nothing waits for it to confirm an end.
  const outcome = await fixture.start(version).outcome;
  expect(outcome).toMatchObject({ status: "SUCCEEDED" });
  expect(outcome).not.toMatchObject({ result: Buffer.from(JSON.stringify(first)) });
});

test("an execution that waits for a child of a stuck zygote is served by the one that takes over, at once", async () => {
  // Late enough that a busy machine's zygote is not taken for a stuck one before it is.
  const times = { canaryMs: 60_000, canaryLateMs: 2_000 };
  fixture = await createFixture({ times, idleSeconds: 2 });
  const version = fixture.createVersion(`${ZYGOTE}def run():\n    return ZYGOTE\n`);
  await fixture.finish(version);
  const zygote = findZygote(version);
  await waitFor("its spare children have ended", () => listChildren(zygote).length === 0);
  process.kill(zygote, "SIGSTOP");
  const begun = performance.now();
  const run = fixture.start(version);
  const cancelled = fixture.start(version);
  cancelled.kill({ code: "CANCELLED", detail: "asked" });
  await waitFor("another zygote has taken over", () => listZygotes().includes(2));
  expect((await run.outcome).status).toBe("SUCCEEDED");
  // The stuck zygote would be killed for it after 70 s.
  expect(performance.now() - begun).toBeLessThan(30_000);
  expect(await cancelled.outcome).toMatchObject({ code: "CANCELLED" });
  await waitFor("the stuck one is gone", () => !listZygotes().includes(1));
});

test("a zygote that cannot be replaced stays", async () => {
  fixture = await createFixture({ times: { maxAgeMs: 2000 } });
  const program =
    "if os.path.exists('/app/broken'):\n    raise RuntimeError('no licence')\ndef run():\n    return ZYGOTE";
  const version = fixture.createVersion(ZYGOTE + program);
  const { result: first } = await fixture.finish(version);
  writeFileSync(join(version.projectDirectory, "broken"), "");
  await waitFor("another zygote was tried", () => listZygotes().includes(2));
  await waitFor("it is gone", () => !listZygotes().includes(2));
  expect((await fixture.finish(version)).result).toEqual(first);
});

test("a zygote whose successor makes no children stays, and the successor ends at once", async () => {
  fixture = await createFixture({ times: { maxAgeMs: 2000 } });
  const program = `
def leave():
    if os.getpid() == 1 and os.path.exists('/app/broken'):
        os._exit(1)
os.register_at_fork(after_in_child=leave)
def run(): return ZYGOTE
`;
  const version = fixture.createVersion(ZYGOTE + program);
  const { result: first } = await fixture.finish(version);
  writeFileSync(join(version.projectDirectory, "broken"), "");
  await waitFor("another zygote was tried", () => listZygotes().includes(2));
  await waitFor("it is gone", () => !listZygotes().includes(2));
  rmSync(join(version.projectDirectory, "broken"));
  expect((await fixture.finish(version)).result).toEqual(first);
});

test("a version that failed to start three times in a row is parked: its traceback comes without a process", async () => {
  const sandbox = await findTestSandbox();
  let started = 0;
  const counting: Sandbox = {
    ...sandbox,
    prepare: (request) => {
      started += 1;
      return sandbox.prepare(request);
    },
  };
  const logged: LogFields[] = [];
  const logger = { ...SILENT, warn: (fields: LogFields) => void logged.push(fields) };
  fixture = await createFixture({ sandbox: counting, logger, times: { failureMs: 0 } });
  const version = fixture.createVersion("def work():\n    raise RuntimeError('no licence')\nwork()");
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const { outcome, lines } = await fixture.finish(version);
    expect(outcome).toMatchObject({ status: "FAILED", code: "STARTUP_ERROR" });
    expect(lines.map(({ message }) => message)).toContain("RuntimeError: no licence");
  }
  expect(started).toBe(3);
  expect(logged.filter((fields) => "versionId" in fields)).toEqual([
    expect.objectContaining({ failures: 3, parkedSeconds: 60 }),
  ]);
});

test.each([
  ["raises", "raise RuntimeError('no licence')", ["RuntimeError: no licence"], ["importing"]],
  ["ends the process", "import os; os._exit(3)", [], []],
])(
  "a version with an interpreter for each execution is parked as well, whose import %s",
  async (_, failing, traceback, printed) => {
    const logged: LogFields[] = [];
    const logger = { ...SILENT, warn: (fields: LogFields) => void logged.push(fields) };
    fixture = await createFixture({ logger });
    const version = fixture.createVersion(`print("importing", flush=True)\n${failing}`, {
      startMode: "spawn",
    });
    const finish = async () => {
      const { outcome, lines } = await fixture.finish(version);
      expect(outcome).toMatchObject({ status: "FAILED", code: "STARTUP_ERROR" });
      return lines.map(({ message }) => message);
    };
    const first = await finish();
    for (let attempt = 0; attempt < 3; attempt += 1) await finish();
    const parked = await finish();
    expect(first).toEqual(expect.arrayContaining([...printed, ...traceback]));
    expect(parked).toEqual(expect.arrayContaining(traceback));
    expect(parked).not.toContain("importing");
    expect(logged.filter((fields) => "versionId" in fields)).toEqual([
      expect.objectContaining({ failures: 3, parkedSeconds: 60 }),
    ]);
  },
);

const HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled";
/** MADV_COLLAPSE is there since Linux 6.1, and refused where huge pages are switched off. */
const canCollapse =
  Number.parseFloat(release()) >= 6.1 &&
  existsSync(HUGE_PAGES) &&
  !readFileSync(HUGE_PAGES, "utf8").includes("[never]");

test.runIf(canCollapse)(
  "a large import of small objects is forked in huge pages, which a fork copies at once",
  async () => {
    fixture = await createFixture();
    const program = `KEPT = [str(number) * 3 for number in range(2_400_000)]
def run():
    with open("/proc/self/smaps_rollup") as rollup:
        fields = dict(line.split()[:2] for line in rollup if "kB" in line)
    return int(fields["AnonHugePages:"]) // 1024
`;
    const { result } = await fixture.finish(fixture.createVersion(program));
    expect(result).toEqual({ value: expect.any(Number) });
    expect(Object(result).value).toBeGreaterThan(60);
  },
);

test("versions that nobody uses cost neither a process nor a timer, and are forgotten", async () => {
  fixture = await createFixture();
  const sandbox = await findTestSandbox();
  const directory = join(fixture.directory, "pools");
  mkdirSync(directory);
  const options = { runDirectory: directory, sandbox, interpreter: null, logger: SILENT, idleSeconds: 0.05 };
  const pools = createVersionPools({
    settings: readSettings(options),
    logger: SILENT,
    sandbox,
    runnerDirectory: directory,
    folders: createZygoteFolders(directory, SILENT),
    paces: createPaces(),
    watcher: null,
    doorkeeper: null,
  });
  const versions = Array.from({ length: 200 }, () => fixture.createVersion("def run(): pass"));
  const before = process.getActiveResourcesInfo().toSorted();
  for (const version of versions) pools.find(version);
  pools.tick();
  expect(pools.count()).toBe(200);
  expect(process.getActiveResourcesInfo().toSorted()).toEqual(before);
  expect(readdirSync(join(directory, "z"))).toEqual([]);
  await waitFor("they are forgotten", () => {
    pools.tick();
    return pools.count() === 0;
  });
});
