import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { getDefaultHighWaterMark } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { spawnTrusted } from "../../../host/processes.ts";
import type { ChildProcess } from "../../../host/processes.ts";
import { TrustedExecutable } from "../../../host/trusted-executable.ts";
import { findUnified } from "../../../testing/unified-groups.ts";
import { waitUntil } from "../../../testing/wait-until.ts";
import type { Cgroups, Group, KnownProcess } from "./cgroups.ts";
import { listFolders } from "./cgroups-v1.ts";
import { createCgroupsV2 } from "./cgroups-v2.ts";
import { delegateV2 } from "./delegate-v2.ts";
import { findCgroups } from "./find-cgroups.ts";
import { joinFirst } from "./join-first.ts";
import { locateGroups } from "./locate.ts";
import type { OwnGroups } from "./locate.ts";
import { isLeftOver, nameWorker, readStartTime, REST } from "./names.ts";
import { removeTrees } from "./remove-groups.ts";
import { sweepLeftOvers } from "./remove-groups.ts";

const PYTHON = TrustedExecutable.vouchFor("/usr/bin/python3", "named by the operator");
const FIRST = 3;
/** Of a user without rights; null: this one has none. */
const ANY_UID = process.getuid?.() === 0 ? 200_000 : null;

const found = await findCgroups(ANY_UID);
const own = locateGroups(
  readFileSync("/proc/self/mountinfo", "latin1"),
  readFileSync("/proc/self/cgroup", "latin1"),
);
/** The folders that a worker makes a group in. */
const parents = found.cgroups === null || own === null ? [] : listParents(own);

function listParents(groups: OwnGroups): readonly string[] {
  return groups.version === 1 ? listFolders(groups.folders) : [delegateV2(groups)];
}

function identify({ pid = 0 }: ChildProcess): KnownProcess {
  return { pid, start: readStartTime(pid) ?? "" };
}

/** The groups of workers of this process. */
function listWorkers(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.includes(`-${process.pid}-`));
}

/** The v2 hierarchy beside v1 has none of the controllers, but groups can be created, joined and killed there. */
const unified = findUnified();

async function open(): Promise<Cgroups> {
  const { cgroups } = await findCgroups(ANY_UID);
  if (cgroups === null) throw new Error("no control groups");
  return cgroups;
}

/** Runs a Python program, as a user without rights, that is in the group from the beginning. */
function start(group: Group, program: string): ChildProcess {
  const joins = group.openJoins();
  const command = joinFirst({ executable: PYTHON, args: ["-I", "-S", "-c", program] }, FIRST, joins.length);
  const child = spawnTrusted(command.executable, command.args, {
    env: {},
    cwd: "/",
    stdio: ["ignore", "pipe", "ignore", ...joins],
    ...(ANY_UID === null ? {} : { uid: ANY_UID, gid: ANY_UID }),
  });
  joins.forEach(closeSync);
  return child;
}

function waitForEnd(child: ChildProcess): Promise<string | number | null> {
  return new Promise((resolve) => {
    child.once("close", (code, signal) => resolve(signal ?? code));
  });
}

function waitForOutput(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    child.once("close", () => reject(new Error("it ended without a word")));
  });
}

describe.runIf(found.cgroups !== null)("the groups of this machine", () => {
  let cgroups: Cgroups;
  let group: Group;
  beforeEach(async () => {
    cgroups = await open();
    group = cgroups.create("run");
    group.limit({ memoryBytes: 64 << 20, cpus: 0.1, processes: 8 });
    group.begin();
  });
  afterEach(async () => {
    if (!(await cgroups.close())) throw new Error("groups are left");
  });

  test.each([
    ["private", "b = bytearray(400 << 20)"],
    ["shared", "import mmap\nb = mmap.mmap(-1, 400 << 20)\nfor at in range(0, len(b), 4096): b[at] = 1"],
    ["memfd", "import os\nd = os.memfd_create('x')\nfor _ in range(400): os.write(d, bytes(1 << 20))"],
  ])(
    "%s memory above the limit ends the process, is counted, and the next run starts at 0",
    async (_, program) => {
      expect(await waitForEnd(start(group, program))).toBe("SIGKILL");
      const usage = group.measure();
      // Version 2 kills all of the group, and counts the process that it chose for it once more.
      expect(Array.from({ length: cgroups.version }, (_unused, index) => index + 1)).toContain(
        usage.outOfMemoryKills,
      );
      expect(usage.peakMemoryBytes).toBeGreaterThan(60 << 20);
      expect(usage.peakMemoryBytes).toBeLessThanOrEqual(64 << 20);
      group.begin();
      expect(await waitForEnd(start(group, "pass"))).toBe(0);
      expect(group.measure()).toMatchObject({ outOfMemoryKills: 0 });
      expect(group.measure().peakMemoryBytes ?? 0).toBeLessThan(30 << 20); // null: see GroupUsage
    },
  );

  test("a process that is killed for a limit above its group has not exceeded its own", async () => {
    const [file, most] = cgroups.version === 1 ? ["memory.limit_in_bytes", -1] : ["memory.max", "max"];
    const above = parents
      .flatMap((folder) => listWorkers(folder).map((name) => join(folder, name, file)))
      .filter((path) => existsSync(path));
    expect(above).not.toEqual([]);
    above.forEach((path) => writeFileSync(path, String(32 << 20)));
    expect(await waitForEnd(start(group, "b = bytearray(48 << 20)"))).toBe("SIGKILL");
    expect(group.measure()).toMatchObject({ outOfMemoryKills: 0 });
    above.forEach((path) => writeFileSync(path, String(most)));
  });

  test("memory of a file that a process has sent away is seen after its end, as long as nobody takes it", async () => {
    const program = `
import array, fcntl, os, socket, termios, time
d = os.memfd_create("x")
for _ in range(40): os.write(d, bytes(1 << 20))
out = socket.socket(fileno=1)
# What Node reads before anybody asks, in one piece or in several; it must not read what comes then.
out.sendall(bytes(${getDefaultHighWaterMark(false)}))
while fcntl.ioctl(out, termios.TIOCOUTQ, bytes(4)) != bytes(4): time.sleep(0.001)
out.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [d]))])
`;
    const child = start(group, program);
    const left = await new Promise((resolve) => {
      // Node reads what is left of the output right after this.
      child.once("exit", () => resolve([group.isEmpty(), group.readHeldMemory() > 32 << 20]));
    });
    expect(left).toEqual([true, true]);
    await waitUntil(() => group.readHeldMemory() < 4 << 20);
  });

  test("a process that begins in a group has nothing to join it with again, and no variable of the shell", async () => {
    const program = `import os
paths = [os.path.realpath("/proc/self/fd/" + name) for name in os.listdir("/proc/self/fd")]
print([path for path in paths if "cgroup" in path], [name for name in os.environ if name != "LC_CTYPE"])`;
    expect(await waitForOutput(start(group, program))).toBe("[] []");
  });

  test("four threads get the share of the processors that the group has", async () => {
    const program = `
import hashlib, threading, time
end = time.monotonic() + 1
def spin():
    while time.monotonic() < end: hashlib.sha256(bytes(1 << 20)).digest()
threads = [threading.Thread(target=spin) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
`;
    const begun = performance.now();
    expect(await waitForEnd(start(group, program))).toBe(0);
    const share = group.measure().cpuSeconds / ((performance.now() - begun) / 1000);
    expect(share).toBeLessThan(0.15);
    expect(share).toBeGreaterThan(0.02);
  });

  test("all groups of a worker together weigh as many processes as there are processors", () => {
    const [file, processor] = cgroups.version === 1 ? ["cpu.shares", 1024] : ["cpu.weight", 100];
    const weights = parents.flatMap((folder) =>
      listWorkers(folder)
        .map((name) => join(folder, name, file))
        .filter((path) => existsSync(path))
        .map((path) => Number(readFileSync(path, "latin1"))),
    );
    expect(weights).toContain(processor * availableParallelism());
  });

  test("a fork bomb ends at the limit of processes", async () => {
    const program = `
import os, time
count = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60)
        count += 1
except BlockingIOError:
    print(count, flush=True)
time.sleep(60)
`;
    const child = start(group, program);
    expect(await waitForOutput(child)).toBe("7");
    expect(group.isEmpty()).toBe(false);
    group.kill();
    expect(await waitForEnd(child)).toBe("SIGKILL");
    await waitUntil(() => group.isEmpty());
  });

  test("a process is moved into it by Node with its threads, and what it starts from then on is in it; who has ended is refused", async () => {
    const program = `
import os, sys, threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("up", flush=True)
os.read(0, 1)
if os.fork() == 0: time.sleep(60)
print("forked", flush=True)
time.sleep(60)
`;
    const child = spawnTrusted(PYTHON, ["-I", "-S", "-c", program], {
      env: {},
      cwd: "/",
      stdio: ["pipe", "pipe", "ignore"],
      ...(ANY_UID === null ? {} : { uid: ANY_UID, gid: ANY_UID }),
    });
    const ended = waitForEnd(child);
    await waitForOutput(child);
    expect(group.isEmpty()).toBe(true);
    await group.enter(identify(child));
    const known = identify(child);
    const forked = waitForOutput(child);
    child.stdin?.write("x");
    await forked;
    expect(group.isEmpty()).toBe(false);
    await waitUntil(() => {
      group.kill();
      return group.isEmpty();
    });
    expect(await ended).toBe("SIGKILL");
    await expect(group.enter(known)).rejects.toThrow("ESRCH");
  });

  test("a process that was given the number of one that has ended is put back, and not killed meanwhile", async () => {
    const child = spawnTrusted(
      PYTHON,
      ["-I", "-S", "-c", "print('up', flush=True); import time; time.sleep(60)"],
      {
        env: {},
        cwd: "/",
        stdio: ["pipe", "pipe", "ignore"],
      },
    );
    const ended = waitForEnd(child);
    await waitForOutput(child);
    const readGroups = () => readFileSync(`/proc/${child.pid}/cgroup`, "latin1");
    const before = readGroups();
    const entered = group.enter({ ...identify(child), start: "1" });
    // The thread that moves it does not wait for this one.
    for (let looks = 0; looks < 100_000 && readGroups() === before; looks += 1);
    group.kill();
    await expect(entered).rejects.toThrow("ended before it was moved");
    group.kill();
    expect([child.exitCode ?? child.signalCode, readGroups()]).toEqual([null, before]);
    child.kill();
    await ended;
  });

  test("a group with processes is removed with them", async () => {
    const child = start(group, "import os, time\nos.fork()\nprint('up', flush=True)\ntime.sleep(60)");
    const ended = waitForEnd(child);
    await waitForOutput(child);
    expect(await group.remove()).toBe(true);
    expect(await ended).toBe("SIGKILL");
  });
});

test.runIf(unified !== null)(
  "a v2 group is joined by a process without rights, killed with all that it started, and removed",
  async () => {
    const folder = unified?.folder ?? "";
    const cgroups = createCgroupsV2(join(folder, nameWorker()), []);
    const group = cgroups.create("run");
    try {
      expect(group.isEmpty()).toBe(true);
      const child = start(
        group,
        "import os, time\nfor _ in range(3):\n    os.fork()\nos.setsid() if os.getpgrp() != os.getpid() else 0\nprint('up', flush=True)\ntime.sleep(60)",
      );
      const ended = waitForEnd(child);
      await waitForOutput(child);
      expect(group.isEmpty()).toBe(false);
      group.kill();
      expect(await ended).toBe("SIGKILL");
      await waitUntil(() => group.isEmpty());
    } finally {
      expect(await group.remove()).toBe(true);
      expect(await cgroups.close()).toBe(true);
    }
  },
);

test("a name says whether its worker lives; that of another container is left alone", () => {
  const runs = nameWorker();
  const [, namespace = "", pid = "", start = ""] = /-(\d+)-(\d+)-(\d+)-[0-9a-f]+$/u.exec(runs) ?? [];
  expect(isLeftOver(runs)).toBe(false);
  expect(isLeftOver(`platform-${namespace}-${pid}-${Number(start) + 1}`)).toBe(true);
  expect(isLeftOver(`platform-${namespace}-4194305-1`)).toBe(true);
  expect(isLeftOver(REST)).toBe(false);
  expect(isLeftOver(`platform-1-4194305-1`)).toBe(false);
  expect(isLeftOver("system.slice")).toBe(false);
});

test.runIf(found.cgroups !== null)(
  "a worker removes what a dead worker left, with the processes in it, and nothing else",
  async () => {
    const runs = nameWorker();
    // Other workers of this machine remove what is left directly in theirs.
    const parent = join(parents.at(-1) ?? "", runs);
    const left = join(parent, runs.replace(/-\d+-\d+-[0-9a-f]+$/u, "-4194305-1"));
    const foreign = join(parent, runs.replace(/-\d+-\d+-\d+-[0-9a-f]+$/u, "-1-4194305-1"));
    mkdirSync(join(left, "run"), { recursive: true });
    mkdirSync(foreign);
    const child = spawnTrusted(
      TrustedExecutable.vouchFor("/bin/sh", "search path"),
      ["-c", 'echo 0 > "$0"/cgroup.procs && echo up && exec sleep 60', join(left, "run")],
      { env: { PATH: "/usr/bin:/bin" }, stdio: ["ignore", "pipe", "ignore"] },
    );
    const ended = waitForEnd(child);
    try {
      await waitForOutput(child);
      await sweepLeftOvers(parent);
      expect(await ended).toBe("SIGKILL");
      expect([existsSync(left), existsSync(foreign)]).toEqual([false, true]);
    } finally {
      await removeTrees([left, parent]);
    }
  },
);

test("what cannot be removed does not keep a worker from starting", async () => {
  const folder = mkdtempSync(join(tmpdir(), "groups-"));
  const left = join(folder, nameWorker().replace(/-\d+-\d+-[0-9a-f]+$/u, "-4194305-1"));
  mkdirSync(left);
  writeFileSync(join(left, "kept"), "");
  await sweepLeftOvers(folder);
  expect(existsSync(left)).toBe(true);
  rmSync(folder, { recursive: true });
});

test("joining by more descriptors than a shell can name is refused", () => {
  expect(() => joinFirst({ executable: PYTHON, args: [] }, 8, 3)).toThrow(
    "Descriptor 10 has more than one digit.",
  );
});

test.runIf(found.cgroups !== null)("nothing of a closed worker is left", async () => {
  const list = () => parents.map(listWorkers);
  const cgroups = await open();
  cgroups.create("run");
  expect(list()).toEqual(parents.map(() => [expect.stringContaining("platform-")]));
  await cgroups.close();
  expect(list()).toEqual(parents.map(() => []));
});
