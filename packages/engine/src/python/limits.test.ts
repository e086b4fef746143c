import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { findZygote, listChildren } from "../testing/find-zygote.ts";
import { createLimitedFixture, LIMITED_LEVELS } from "../testing/limited-levels.ts";
import { LOWEST_SHARE } from "../testing/lowest-share.ts";
import { findTestSandbox, INTERPRETER, waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import type { RunnableVersion } from "./port/runtime.ts";

const { cgroups } = await findTestSandbox();

/** Runs what `data.code` says, as user code that is not trusted; without it, it stays for a second. */
const PROGRAM = `${LOWEST_SHARE}
import mmap, os, resource, socket, tempfile, threading, time

PAGE = 4096

def touch(memory):
    for at in range(0, len(memory), PAGE):
        memory[at] = 1

def fill(path, megabytes):
    with open(path, "wb") as file:
        for _ in range(megabytes):
            file.write(bytes(1 << 20))

def run(data):
    print("begun")
    if "code" not in data:
        time.sleep(1)
        return "untouched"
    scope = {**globals()}
    exec(data["code"], scope)
    return scope.get("result")
`;

const MEMORY = [
  ["private memory", "blocks = [bytearray(1 << 20) for _ in range(400)]"],
  ["shared anonymous memory", "m = mmap.mmap(-1, 400 << 20)\ntouch(m)\ntime.sleep(60)"],
  [
    "memory files, each below the limit of a file",
    "ds = [os.memfd_create('x') for _ in range(8)]\nfor d in ds * 50: os.write(d, bytes(1 << 20))\ntime.sleep(60)",
  ],
  [
    "256 processes, each below the limit",
    "for _ in range(200):\n    if os.fork() == 0:\n        b = bytearray(4 << 20); touch(b); time.sleep(60)\ntime.sleep(60)",
  ],
  [
    "a subprocess, while the run itself goes on",
    "import subprocess, sys\nsubprocess.run([sys.executable, '-I', '-c', 'import mmap, time; m = mmap.mmap(-1, 400 << 20); [m.__setitem__(at, 1) for at in range(0, len(m), 4096)]; time.sleep(60)'])",
  ],
] as const;

const TMPFS = 0x01021994;

/** Level C gives no file system in memory: files of a run are the host's, in a folder of its own. */
const TWO_FILE_SYSTEMS = "fill('/tmp/a', 90); fill('/dev/shm/b', 90)\ntime.sleep(60)";

/** The result is how many there were. */
const PROCESS_BOMBS = [
  [
    "a fork bomb",
    "n = 0\ntry:\n    while n < 5000:\n        if os.fork() == 0: time.sleep(60)\n        n += 1\nexcept OSError:\n    result = n",
  ],
  [
    "a thread bomb",
    "n = 0\nthreading.stack_size(1 << 16)\ntry:\n    while n < 5000:\n        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n        n += 1\nexcept RuntimeError:\n    result = n",
  ],
] as const;
const DESCRIPTOR_BOMB =
  "kept = []\ntry:\n    while len(kept) < 10_000: kept.append(os.dup(0))\nexcept OSError:\n    result = len(kept)\n    for d in kept: os.close(d)";
const INODE_BOMB =
  "n = 0\ntry:\n    while n < 150_000:\n        os.close(os.open(f'/tmp/{n}', os.O_CREAT | os.O_WRONLY))\n        n += 1\nexcept OSError:\n    result = n";

const TERMINAL_BOMB =
  "kept = []\ntry:\n    while len(kept) < 1000: kept.append(os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY))\nexcept OSError:\n    pass\nresult = len(kept)";

/** The result is what the kernel took without anybody reading it, in megabytes; they ask for 400. */
const SOCKETS = [
  [
    "TCP",
    `
server = socket.create_server(("127.0.0.1", 0), backlog=500)
taken, kept = 0, []
for _ in range(100):
    kept += [sender := socket.create_connection(server.getsockname()), server.accept()[0]]
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    sender.setblocking(False)
    try:
        while taken < 400 << 20: taken += sender.send(bytes(1 << 16))
    except BlockingIOError:
        pass
result = taken >> 20`,
  ],
  [
    "UDP",
    `
taken, kept = 0, []
sender = socket.socket(type=socket.SOCK_DGRAM)
for _ in range(2000):
    kept.append(reader := socket.socket(type=socket.SOCK_DGRAM))
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    reader.bind(("127.0.0.1", 0))
    for _ in range(len(kept) < 100 and 140 or 8): sender.sendto(bytes(60_000), reader.getsockname())
for reader in kept:
    reader.setblocking(False)
    try:
        while True: taken += len(reader.recv(1 << 16))
    except BlockingIOError:
        pass
result = taken >> 20`,
  ],
] as const;

/**
 * What code at import has of control groups, and what it can do to those of executions: on SIGUSR1 it starts a process, and from then on
 * each child calls itself that process.
 */
const INTRUDER = `
import os, signal, sys
def list_groups():
    names = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    return [link for link in (os.readlink(name) for name in names if os.path.lexists(name)) if "cgroup" in link]
AT_IMPORT = list_groups()
admission = sys.modules["service_runner.admission"]
read_number, intruder = admission.read_number, []
def read_forged():
    return intruder[0] if intruder else read_number()
admission.read_number = read_forged
def intrude(*_):
    pid = os.fork()
    if pid == 0:
        while True: signal.pause()
    intruder.append(pid)
signal.signal(signal.SIGUSR1, intrude)
`;

/** The control groups that a process of the host is in. */
function readGroups(pid: number | string | undefined): string {
  return readFileSync(`/proc/${pid}/cgroup`, "latin1");
}

describe.each(LIMITED_LEVELS)("limits at level %s, by %s", (level, bounds) => {
  const hasGroups = bounds === "control groups";
  const hasNamespaces = level !== "C";
  let fixture: Fixture;
  let version: RunnableVersion;
  /** So much memory that nothing but the limit in question ends what it does. */
  let roomy: RunnableVersion;
  let other: RunnableVersion;
  beforeAll(async () => {
    fixture = await createLimitedFixture(level, bounds);
    version = fixture.createVersion(PROGRAM, { resources: { cpu: 1, memory: 0.1 } });
    roomy = fixture.createVersion(PROGRAM, { resources: { cpu: 1, memory: 2 } });
    other = fixture.createVersion(PROGRAM);
  });
  afterAll(() => fixture.close());

  /** Runs it beside an execution of the same version and one of another, which must not notice; the version serves afterwards. */
  async function attack(code: string, attacked = version) {
    const siblings = [attacked, other].map((of) => fixture.start(of, { data: {} }));
    await waitFor("the siblings run", () => siblings.every(({ lines }) => lines.length > 0));
    const finished = await fixture.finish(attacked, { data: { code } });
    for (const sibling of siblings) expect(await sibling.outcome).toMatchObject({ status: "SUCCEEDED" });
    expect((await fixture.finish(attacked, { data: { code: "result = 7" } })).result).toEqual({ value: 7 });
    return finished;
  }

  /** How many of something the code could have. */
  async function count(code: string): Promise<number> {
    const { outcome, result } = await attack(code, roomy);
    expect(outcome).toMatchObject({ status: "SUCCEEDED" });
    return (result as { readonly value: number }).value;
  }

  const kinds = hasNamespaces
    ? [...MEMORY, ["two tmpfs, each below its own limit", TWO_FILE_SYSTEMS] as const]
    : MEMORY;
  test.each(kinds)("more than its memory is OUT_OF_MEMORY, also as %s", async (_name, code) => {
    const { outcome } = await attack(code);
    expect(outcome).toMatchObject({ status: "FAILED", code: "OUT_OF_MEMORY" });
    expect(outcome).toMatchObject({ detail: expect.stringMatching(/^The memory limit of 0\.1 GB/u) });
  });

  test.each([
    ["private memory", "blocks = bytearray(400 << 20)"],
    ["shared memory, and it ends at once", "m = mmap.mmap(-1, 400 << 20)\ntouch(m)"],
    [
      "memory files",
      "ds = [os.memfd_create('x') for _ in range(8)]\nfor d in ds * 50: os.write(d, bytes(1 << 20))",
    ],
    // The kernel kills one of them and not the import, which goes on; without groups all are killed.
    ...(hasGroups
      ? []
      : [
          [
            "processes",
            "for _ in range(8):\n    if os.fork() == 0:\n        b = bytearray(50 << 20); touch(b); time.sleep(60)\ntime.sleep(2)",
          ],
        ]),
    ...(hasNamespaces
      ? [
          [
            "two tmpfs, each below its own limit, and shared memory",
            "fill('/tmp/a', 90); fill('/dev/shm/b', 90)\nm = mmap.mmap(-1, 200 << 20); touch(m)\ntime.sleep(2)",
          ],
        ]
      : []),
  ])("an import of more than its memory is OUT_OF_MEMORY, also as %s", async (_, code) => {
    const large = fixture.createVersion(`${PROGRAM}\n${code}`, {
      resources: { cpu: 1, memory: 0.1 },
    });
    const expected = {
      code: "OUT_OF_MEMORY",
      detail:
        "The import of src/program.py exceeded the memory limit of the version, 0.1 GB. Raise resources.memory in platform.json.",
    };
    expect((await fixture.finish(large, { data: {} })).outcome).toMatchObject(expected);
    expect(await fixture.runtime.probe(large)).toMatchObject(expected);
  });

  test("a fresh interpreter whose import takes more than its memory is OUT_OF_MEMORY", async () => {
    const program = `${PROGRAM}\nm = mmap.mmap(-1, 400 << 20)\ntouch(m)\ntime.sleep(2)`;
    const large = fixture.createVersion(program, {
      resources: { cpu: 1, memory: 0.1 },
      startMode: "spawn",
    });
    expect((await fixture.finish(large, { data: {} })).outcome).toMatchObject({
      code: "OUT_OF_MEMORY",
      detail: expect.stringContaining("The import of src/program.py exceeded the memory limit"),
    });
  });

  test("an interpreter that a version brings along has the memory of an import before it says a word", async () => {
    const own = fixture.createVersion(
      PROGRAM,
      { resources: { cpu: 1, memory: 0.1 } },
      { python: `#!${INTERPRETER}\nimport time\nblock = bytearray(400 << 20)\ntime.sleep(60)` },
    );
    const interpreter = join(own.projectDirectory, "python");
    chmodSync(interpreter, 0o755);
    const version = { ...own, interpreter, readablePaths: [own.projectDirectory] };
    expect((await fixture.finish(version, { data: {} })).outcome).toMatchObject({ code: "OUT_OF_MEMORY" });
  });

  test.runIf(hasNamespaces)(
    "what an import leaves running cannot fill more of /tmp than its memory",
    async () => {
      const program = `import os
def size(path):
    found = os.statvfs(path)
    return found.f_blocks * found.f_frsize
SIZES = {path: size(path) for path in ("/tmp", "/dev/shm")}
def run():
    return SIZES`;
      const { result } = await fixture.finish(
        fixture.createVersion(program, { resources: { cpu: 1, memory: 0.5 } }),
      );
      expect(result).toEqual({ "/tmp": 512 << 20, "/dev/shm": 512 << 20 });
    },
  );

  test.each(PROCESS_BOMBS)("%s is bounded", async (_name, code) => {
    const made = await count(code);
    expect(made).toBeGreaterThan(200);
    // Without namespaces and groups, the processes of a version count together.
    expect(made).toBeLessThan(hasNamespaces || hasGroups ? 256 : 2048);
  });

  test("a descriptor bomb is bounded", async () => {
    const made = await count(DESCRIPTOR_BOMB);
    expect(made).toBeGreaterThan(4000);
    expect(made).toBeLessThan(4096);
  });

  test.runIf(hasNamespaces)("an inode bomb is bounded", async () => {
    const made = await count(INODE_BOMB);
    expect(made).toBeGreaterThan(99_000);
    expect(made).toBeLessThan(100_000);
  });

  test.runIf(hasNamespaces)("a terminal bomb is bounded: all users of the host have 4,096", async () => {
    expect(await count(TERMINAL_BOMB)).toBe(256);
  });

  // Looking at processes does not show what the kernel keeps for their sockets.
  test.runIf(hasGroups && hasNamespaces).each(SOCKETS)(
    "what sockets of %s keep for nobody is bounded",
    async (_name, code) => {
      const local = fixture.createVersion(PROGRAM, {
        resources: { cpu: 1, memory: 0.1 },
        network: "none",
      });
      const { outcome, result } = await fixture.finish(local, { data: { code } });
      // With version 2 they are memory of the run, and the kernel may find none for something else that it needs.
      const isBounded =
        outcome.status === "FAILED"
          ? cgroups?.version === 2 && outcome.code === "OUT_OF_MEMORY"
          : (result as { readonly value: number }).value < 200;
      expect([isBounded, outcome, result]).toEqual([true, outcome, result]);
      // What was left of it when it ended is not taken from the next one.
      expect((await fixture.finish(local, { data: { code: "result = 7" } })).result).toEqual({ value: 7 });
    },
  );

  // Without namespaces, the zygote ends the intruder with the next execution.
  test.runIf(hasGroups && hasNamespaces)(
    "code at import can move no process into the group of an execution: it has no descriptor for that, and a child that calls itself another process moves that into its own place",
    async () => {
      const intruding = fixture.createVersion(INTRUDER + PROGRAM);
      const lists = { data: { code: "result = [AT_IMPORT, list_groups()]" } };
      expect((await fixture.finish(intruding, lists)).result).toEqual({ value: [[], []] });
      const run = fixture.start(intruding, { data: { code: "time.sleep(2)" } });
      await waitFor("it runs", () => run.lines.length > 0);
      const zygote = findZygote(intruding);
      const before = listChildren(zygote);
      process.kill(zygote, "SIGUSR1");
      await waitFor("the intruder is there", () => listChildren(zygote).length > before.length);
      const intruder = listChildren(zygote).find((pid) => !before.includes(pid));
      expect(readGroups(intruder)).toBe(readGroups(zygote));
      // Children that are made from now on claim to be the intruder.
      expect((await fixture.finish(intruding, lists)).outcome).toMatchObject({ status: "SUCCEEDED" });
      await waitFor("it is moved", () => readGroups(intruder) !== readGroups(zygote));
      const others = before.filter((pid) => listChildren(zygote).includes(pid));
      expect(others.map(readGroups)).not.toContain(readGroups(intruder));
      expect(new Set(others.map(readGroups)).size).toBe(others.length);
      await run.outcome;
    },
  );

  test("what is read from a disk counts only as long as there is room", async () => {
    // Not with other temporary files, which may be in memory.
    const projectDirectory = mkdtempSync("/var/tmp/limits-");
    onTestFinished(() => rmSync(projectDirectory, { recursive: true }));
    chmodSync(projectDirectory, 0o755);
    cpSync(version.projectDirectory, projectDirectory, { recursive: true });
    writeFileSync(join(projectDirectory, "large"), Buffer.alloc(300 << 20), { flush: true });
    // What the machine has in memory already counts for nobody.
    const code = `
with open("large", "rb", buffering=0) as file:
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    result = sum(iter(lambda: len(file.read(1 << 20)), 0)) >> 20`;
    const onDisk = { ...version, id: `${version.id}-on-disk`, projectDirectory };
    const { outcome, result } = await attack(code, onDisk);
    expect(result).toEqual({ value: 300 });
    // Looking at processes does not show it, and files in memory count for who wrote them.
    if (!hasGroups || statfsSync(projectDirectory).type === TMPFS) return;
    const metadata = outcome.status === "SUCCEEDED" ? Buffer.from(outcome.metadata ?? []).toString() : "";
    const used = JSON.parse(metadata) as Record<string, { readonly peakMemoryBytes: number }>;
    const { peakMemoryBytes } = used["_usage"] ?? {};
    expect(peakMemoryBytes).toBeGreaterThan(100 << 20);
    expect(peakMemoryBytes).toBeLessThan(140 << 20);
  });

  test("a file is no larger than the memory of the version", async () => {
    const { outcome } = await attack("fill(os.path.join(os.environ['TMPDIR'], 'big'), 110)");
    expect(outcome).toMatchObject({
      code: "EXECUTION_ERROR",
      detail: expect.stringMatching(hasNamespaces ? /No space left/u : /File too large/u),
    });
  });

  test.each([
    [1, 1],
    [0.5, 0.5],
    // On a busy machine only this one shows that the limit is the reason: two processors give a process more.
    [0.1, 0.1],
  ])("four threads that spin get the %d vCPU of the version", async (cpu, most) => {
    const spinning = fixture.createVersion(PROGRAM, { resources: { cpu, memory: 0.5 } });
    const seconds = hasGroups ? 1.5 : 5;
    const code = `
import hashlib
end = time.monotonic() + ${seconds}
def spin():
    while time.monotonic() < end: hashlib.sha256(bytes(1 << 20)).digest()
threads = [threading.Thread(target=spin) for _ in range(4)]
for thread in threads: thread.start()
result = lowest_share([os.getpid()], ${seconds})
for thread in threads: thread.join()`;
    const { result } = await fixture.finish(spinning, { data: { code } });
    const { value } = result as { readonly value: number };
    expect(value).toBeLessThan(most * 1.15);
    expect(value).toBeGreaterThan(most * 0.2);
  });
});
