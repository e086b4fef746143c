import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LOWEST_SHARE } from "../testing/lowest-share.ts";
import { createFixture, findTestSandbox, INTERPRETER, waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import { listChildren } from "./watch/process-files.ts";

/** Runs what `data.code` says, as user code that is not trusted. */
const PROGRAM = `${LOWEST_SHARE}
import mmap, os, signal, subprocess, sys, threading, time

def touch(memory):
    for at in range(0, len(memory), 4096):
        memory[at] = 1

def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end: pass

def run(data):
    scope = {**globals()}
    print("begun", flush=True)
    exec(data["code"], scope)
    return scope.get("result")
`;
const ORPHAN = `
if os.fork() == 0:
    if os.fork() == 0:
        memory = mmap.mmap(-1, 400 << 20)
        touch(memory); time.sleep(60)
    os._exit(0)
time.sleep(60)`;
/** Reading memory that was never written takes one page of zeros, which is nobody's, and a page of tables for every 2 MB. */
const PAGE_TABLES = `
memory = mmap.mmap(-1, 200 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
memory.madvise(15)  # MADV_NOHUGEPAGE
for at in range(0, len(memory), 2 << 20): memory[at]
time.sleep(60)`;
/** Two processes, since a machine may have two processors only. */
const HOGS =
  "others = [subprocess.Popen([sys.executable, '-I', '-c', 'while True: pass']) for _ in range(2)]";

/** Of a version, where the capacity of the worker is not known: 256 for the import and for each of 32 children. */
const MOST_PROCESSES = 256 * 33;
/** Says by its exit code whether it may have more processes than that, whatever it raises. */
const TELL_PROCESSES = `
import resource, sys
_, most = resource.getrlimit(resource.RLIMIT_NPROC)
sys.exit(3 if 0 < most <= ${MOST_PROCESSES} else 4)
`;

const LEVELS = ["B", "C"] as const;

describe.each(LEVELS)("without control groups, at level %s", (level) => {
  let fixture: Fixture;
  beforeAll(async () => {
    const sandbox = await findTestSandbox(level === "C" ? { bubblewrapPath: "/nonexistent" } : {});
    fixture = await createFixture({ sandbox: { ...sandbox, cgroups: null } });
  });
  afterAll(() => fixture.close());

  function createVersion(cpu: number) {
    return fixture.createVersion(PROGRAM, { resources: { cpu, memory: 0.1 } });
  }

  test.each([
    // By a name, or it is given back before a late look has measured it.
    ["shared memory", "memory = mmap.mmap(-1, 400 << 20); touch(memory); time.sleep(60)"],
    ["shared memory of an orphan", ORPHAN],
    ["page tables", PAGE_TABLES],
    [
      "files without a name",
      "ds = [os.memfd_create('x') for _ in range(8)]\nfor d in ds * 50: os.write(d, bytes(1 << 20))\ntime.sleep(60)",
    ],
  ])("400 MB of %s under 0.1 GB are OUT_OF_MEMORY; the version serves on", async (_, code) => {
    const version = createVersion(1);
    // A machine under strain takes long to give it so much.
    const { outcome } = await fixture.finish(version, { data: { code }, timeoutSeconds: 60 });
    expect(outcome).toMatchObject({ status: "FAILED", code: "OUT_OF_MEMORY" });
    expect(outcome).toMatchObject({ detail: expect.stringMatching(/ used \d{3} MB at its peak\.$/u) });
    const next = await fixture.finish(version, { data: { code: "result = 7" } });
    expect(next.result).toEqual({ value: 7 });
  });

  test("processes of a run together get its share of a processor", async () => {
    const code = `
${HOGS}
result = lowest_share([other.pid for other in others], 2)
for other in others: other.kill()
for other in others: other.wait()`;
    const { result } = await fixture.finish(createVersion(0.3), { data: { code } });
    const { value } = result as { readonly value: number };
    expect(value).toBeLessThan(0.3 * 1.15);
    expect(value).toBeGreaterThan(0.3 * 0.2);
  });

  test("a run that is stopped goes on for a cancellation, so that it can clean up", async () => {
    const code = `
def clean(*_):
    for other in others: other.kill()
    print("cleaned", flush=True)
    os._exit(0)
signal.signal(signal.SIGTERM, clean)
${HOGS}
print("spinning", flush=True)
while True: pass`;
    const run = fixture.start(createVersion(0.02), { data: { code } });
    await waitFor(
      "it is held back",
      () => run.lines.some(({ message }) => message === "spinning") && listStopped().length > 0,
    );
    run.kill({ code: "CANCELLED", detail: "asked" });
    expect(await run.outcome).toMatchObject({ code: "CANCELLED" });
    await run.ended;
    expect(run.lines.map(({ message }) => message)).toContain("cleaned");
  });

  test("a run that is stopped ends at its time limit, and leaves nothing behind that is stopped", async () => {
    const before = listStopped().length;
    const code = `${HOGS}\ntime.sleep(60)`;
    const { outcome } = await fixture.finish(createVersion(0.02), { data: { code }, timeoutSeconds: 1 });
    expect(outcome).toMatchObject({ code: "TIMEOUT" });
    await waitFor("none is stopped", () => listStopped().length <= before);
  });
});

test("an interpreter that a version brings along has no more processes than its executions may have", async () => {
  const fixture = await createFixture({ sandbox: { ...(await findTestSandbox()), cgroups: null } });
  try {
    const own = fixture.createVersion("", {}, { python: `#!${INTERPRETER}\n${TELL_PROCESSES}` });
    const interpreter = join(own.projectDirectory, "python");
    chmodSync(interpreter, 0o755);
    const version = { ...own, interpreter, readablePaths: [own.projectDirectory] };
    const { outcome } = await fixture.finish(version, { data: {} });
    expect(outcome).toMatchObject({ detail: expect.stringContaining("ended with exit code 3 ") });
  } finally {
    await fixture.close();
  }
});

/** The processes below this one that are stopped. */
function listStopped(): readonly number[] {
  const below = [process.pid];
  for (const pid of below) below.push(...listChildren(pid));
  return below.filter((pid) => /^State:\sT/mu.test(readStatus(pid)));
}

function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}
