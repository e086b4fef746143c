import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ATTACKED_LEVELS, createAttackedFixture } from "../testing/attack-levels.ts";
import { findProcesses } from "../testing/find-processes.ts";
import { waitFor } from "../testing/python-fixture.ts";
import { findZygote, listChildren } from "../testing/find-zygote.ts";
import type { Fixture } from "../testing/python-fixture.ts";

const LOOP = "def run():\n    print('begun')\n    while True:\n        pass\n";

const GRANDCHILDREN = `
import subprocess, time
def run(data):
    for n in range(3):
        subprocess.Popen(["sleep", data["seconds"]], start_new_session=n > 0)
    subprocess.Popen(["sh", "-c", "setsid sh -c 'sleep " + data["seconds"] + "; true' &"])
    print("begun")
    if data["wait"]:
        time.sleep(60)
`;

/** Leaves one orphan after the other, each of which ends at once; returns how many there were. */
const ORPHANS = `
import os

def leave_orphan():
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                os.write(writer, b"x")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    os.close(writer)
    with open(reader, "rb") as lines:
        return lines.read() == b"x"  # at its end the orphan has ended

def wait_for_all():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] > 0:
            pass
    except ChildProcessError:
        pass

def run(data):
    made = 0
    try:
        while made < 400 and leave_orphan():
            made += 1
            if data["waits"]:
                wait_for_all()
    except OSError:
        pass
    return made
`;

/** Longer than an end takes that nothing holds up. */
const GRACE_MS = 8000;

describe.each(ATTACKED_LEVELS)("at level %s", (level) => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await createAttackedFixture(level, { times: { graceMs: GRACE_MS } });
  });
  afterEach(() => fixture.close());

  test("an endless loop ends at its time limit", async () => {
    const version = fixture.createVersion(LOOP);
    const { outcome, lines } = await fixture.finish(version, { timeoutSeconds: 5 });
    expect(outcome).toMatchObject({
      status: "FAILED",
      code: "TIMEOUT",
      detail: "The execution exceeded its time limit of 5 s.",
    });
    expect(lines.map((line) => line.message)).toEqual(["begun"]);
  });

  test("cancelling ends a run, and one that catches SIGTERM and goes on is killed after the grace", async () => {
    const program =
      "import signal, time\ndef run(data):\n    if data['deaf']:\n        signal.signal(signal.SIGTERM, lambda *_: None)\n    print('begun')\n    time.sleep(60)\n";
    const version = fixture.createVersion(program);
    for (const deaf of [false, true]) {
      const run = fixture.start(version, { data: { deaf } });
      await waitFor("the run has begun", () => run.lines.length > 0);
      const before = performance.now();
      run.kill({ code: "CANCELLED", detail: "cancelled by the caller" });
      expect(await run.outcome).toMatchObject({
        status: "FAILED",
        code: "CANCELLED",
        detail: "cancelled by the caller",
      });
      await run.ended;
      // Without a handler nothing is waited for.
      const took = performance.now() - before;
      expect(took >= GRACE_MS - 1).toBe(deaf);
    }
  });

  test("a run that is cancelled while it waits never begins", async () => {
    const program = `
import subprocess, time
time.sleep(0.3)
def run(data):
    if data["wait"]:
        subprocess.run(["sleep", "1234.503"])
`;
    const version = fixture.createVersion(program);
    const run = fixture.start(version, { data: { wait: true } });
    const other = fixture.start(version, { data: { wait: false } });
    run.kill({ code: "CANCELLED", detail: "too late" });
    expect(await run.outcome).toMatchObject({ code: "CANCELLED" });
    await run.ended;
    expect(await other.outcome).toMatchObject({ status: "SUCCEEDED" });
    expect((await fixture.finish(version, { data: { wait: false } })).outcome.status).toBe("SUCCEEDED");
    expect(findProcesses("1234.503")).toEqual([]);
  });

  test("an outcome that is known is not changed by a later kill", async () => {
    const run = fixture.start(fixture.createVersion("def run():\n    return 1"));
    const outcome = await run.outcome;
    run.kill({ code: "CANCELLED", detail: "late" });
    expect(outcome.status).toBe("SUCCEEDED");
    expect(await run.outcome).toBe(outcome);
    await run.ended;
  });

  test.each([
    ["after a cancel", true, "1234.501"],
    ["after a run that simply returned", false, "1234.502"],
  ])("grandchildren are gone, also those with a session of their own: %s", async (_, wait, seconds) => {
    const run = fixture.start(fixture.createVersion(GRANDCHILDREN), { data: { wait, seconds } });
    await waitFor("the run has begun", () => run.lines.length > 0);
    if (wait) {
      await waitFor("grandchildren run", () => findProcesses(seconds).length >= 4);
      run.kill({ code: "CANCELLED", detail: "enough" });
    }
    await run.ended;
    expect(findProcesses(seconds)).toEqual([]);
  });

  test("orphans that have ended count among the processes of their run until it waits for them; without namespaces the zygote does", async () => {
    const version = fixture.createVersion(ORPHANS);
    const count = async (waits: boolean) => (await fixture.finish(version, { data: { waits } })).result;
    expect(await count(true)).toEqual({ value: 400 });
    const { value } = (await count(false)) as { readonly value: number };
    expect(value).toBeGreaterThan(200);
    expect(value < 256).toBe(level !== "C");
    expect(value === 400).toBe(level === "C");
  });

  test("a fork bomb hits its own execution only", async () => {
    const program = `
import os, time
ZYGOTE = os.urandom(8).hex()
def run(data):
    if data.get("bomb"):
        print("begun")
        while True:
            try:
                os.fork()
            except OSError:
                time.sleep(0.001)
    for _ in range(20):
        time.sleep(0.05)
    return ZYGOTE
`;
    const version = fixture.createVersion(program);
    const sibling = fixture.start(version);
    const bomb = fixture.start(version, { data: { bomb: true }, timeoutSeconds: 1 });
    expect(await bomb.outcome).toMatchObject({ code: "TIMEOUT" });
    expect(await sibling.outcome).toMatchObject({ status: "SUCCEEDED" });
    await bomb.ended;
    const { result } = await fixture.finish(version);
    const before = await sibling.outcome;
    expect(before.status === "SUCCEEDED" ? JSON.parse(Buffer.from(before.result).toString()) : null).toEqual(
      result,
    );
  });

  test("when the zygote dies, its runs are UNKNOWN and the next run boots another", async () => {
    const program =
      "import time\ndef run(data):\n    print('begun')\n    if data.get('wait'):\n        time.sleep(60)\n    return 1\n";
    const version = fixture.createVersion(program);
    const runs = [1, 2].map(() => fixture.start(version, { data: { wait: true } }));
    await waitFor("both have begun", () => runs.every((run) => run.lines.length > 0));
    process.kill(findZygote(version), "SIGKILL");
    for (const run of runs) {
      expect(await run.outcome).toMatchObject({ status: "UNKNOWN", code: "WORKER_LOST" });
      await run.ended;
    }
    expect((await fixture.finish(version)).result).toEqual({ value: 1 });
  });

  test("a run that the system kills is told so, and that memory may be why", async () => {
    const version = fixture.createVersion(
      "import time\ndef run():\n    print('begun')\n    time.sleep(60)\n",
    );
    const run = fixture.start(version);
    await waitFor("it has begun", () => run.lines.length > 0);
    for (const child of listChildren(findZygote(version))) process.kill(Number(child), "SIGKILL");
    expect(await run.outcome).toMatchObject({
      status: "FAILED",
      code: "EXECUTION_ERROR",
      detail: "The process was killed by SIGKILL, possibly because it ran out of memory before run returned.",
    });
    await run.ended;
  });

  test("a run that the kernel takes long to end ends alone: its siblings go on", async () => {
    const program = `
import mmap, time
def run(data):
    if data["large"]:
        memory = mmap.mmap(-1, 300 << 20, flags=mmap.MAP_PRIVATE)
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        for at in range(0, len(memory), 4096):
            memory[at] = 1
    print("begun")
    time.sleep(60 if data["large"] else 2)
    return 7
`;
    const own = await createAttackedFixture(level, { times: { confirmMs: 1 } });
    try {
      const version = own.createVersion(program, { resources: { cpu: 1, memory: 0.5 } });
      const large = own.start(version, { data: { large: true } });
      await waitFor("its memory is taken", () => large.lines.length > 0);
      const sibling = own.start(version, { data: { large: false } });
      await waitFor("its sibling runs", () => sibling.lines.length > 0);
      large.kill({ code: "TIMEOUT", detail: "" });
      await large.ended;
      expect(await sibling.outcome).toMatchObject({ status: "SUCCEEDED" });
    } finally {
      await own.close();
    }
  });

  test("closing the runtime ends what runs, and retiring a version waits for it", async () => {
    const slow = fixture.createVersion(
      "import time\ndef run():\n    print('begun')\n    time.sleep(0.3)\n    return 1\n",
    );
    const run = fixture.start(slow);
    await waitFor("the run has begun", () => run.lines.length > 0);
    await fixture.runtime.retire(slow.id);
    expect(await run.outcome).toMatchObject({ status: "SUCCEEDED" });
    const endless = fixture.start(fixture.createVersion(LOOP));
    await waitFor("the run has begun", () => endless.lines.length > 0);
    await fixture.runtime.close();
    expect(await endless.outcome).toMatchObject({ status: "UNKNOWN", code: "WORKER_LOST" });
    await endless.ended;
    expect(findProcesses(fixture.directory)).toEqual([]);
    expect(await fixture.start(slow).outcome).toMatchObject({ status: "NOT_STARTED" });
  });
});

const NAMED = `
import ctypes, time
def run(data):
    ctypes.CDLL(None).prctl(15, data["name"].encode())  # PR_SET_NAME
    print("begun")
    time.sleep(60)
`;

const describeChild = (child: string): string => readFileSync(`/proc/${child}/stat`, "utf8");

describe("an end of which the zygote has not told yet", () => {
  afterEach(() => void vi.useRealTimers());

  test("ends that run alone: it is looked at once more before the sandbox is killed", async () => {
    const fixture = await createAttackedFixture("B");
    try {
      const version = fixture.createVersion(NAMED);
      const [killed, sibling] = ["one", "another"].map((name) => fixture.start(version, { data: { name } }));
      await waitFor("both have begun", () => [killed, sibling].every((run) => run?.lines.length === 1));
      const zygote = findZygote(version);
      const child = listChildren(zygote).find((each) => describeChild(each).includes("(one)")) ?? "";
      process.kill(zygote, "SIGSTOP");
      process.kill(Number(child), "SIGKILL");
      await waitFor("its processes have ended", () => describeChild(child).includes(") Z "));
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      killed?.kill({ code: "TIMEOUT", detail: "" });
      vi.advanceTimersByTime(10_000); // until the first look
      process.kill(zygote, "SIGCONT");
      await killed?.ended;
      vi.advanceTimersByTime(1_000); // until the second
      vi.useRealTimers();
      sibling?.kill({ code: "CANCELLED", detail: "It has lived on." });
      expect(await sibling?.outcome).toMatchObject({ code: "CANCELLED" });
    } finally {
      vi.useRealTimers();
      await fixture.close();
    }
  });
});
