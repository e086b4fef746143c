import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findProcesses } from "../testing/find-processes.ts";
import { createLimitedFixture } from "../testing/limited-levels.ts";
import { asOrdinaryUser } from "../testing/as-user.ts";
import type { Command } from "../testing/as-user.ts";
import { createFixture, findTestSandbox, waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import { readOutput, refuseNamespaces } from "../testing/without-namespaces.ts";
import { readStat } from "./watch/process-files.ts";

const SAY_LEVEL = fileURLToPath(new URL("../testing/say-level.ts", import.meta.url));

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture({}, "C");
});
afterAll(() => fixture.close());

/** Runs a body of `run` and returns what it returned. */
async function call(body: string): Promise<unknown> {
  const indented = body
    .trim()
    .split("\n")
    .map((line) => `    ${line}`);
  const program = ["import os, subprocess, sys", "def run(data, params):", ...indented, ""].join("\n");
  const { outcome, result, lines } = await fixture.finish(fixture.createVersion(program));
  if (outcome.status !== "SUCCEEDED") throw new Error(JSON.stringify([outcome, lines]));
  return result;
}

function isLauncher(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0").includes("confine");
}

type User = readonly [who: string, isRoot: boolean, become: (command: Command) => Command];

/** Its zygote may have taken it along. */
function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

test("level C runs executions: files of their own, threads and programs", async () => {
  expect(
    await call(`
open(os.path.join(os.environ["TMPDIR"], "x"), "w").write("1")
return {"listed": os.listdir(os.environ["TMPDIR"]), "printed": subprocess.check_output(["echo", "hi"], text=True)}`),
  ).toEqual({ listed: expect.arrayContaining(["x", "output"]), printed: "hi\n" });
});

test("the environment at level C holds what a version is promised, and nothing of what started it", async () => {
  expect(await call("return sorted(os.environ)")).toEqual({
    value: [
      "GLIBC_TUNABLES",
      "HOME",
      "LANG",
      "LOG_LEVEL",
      "MKL_NUM_THREADS",
      "OMP_NUM_THREADS",
      "OPENBLAS_NUM_THREADS",
      "OUTPUT_DIRECTORY",
      "PATH",
      "SERVICE_EXECUTION_ATTEMPT",
      "SERVICE_EXECUTION_ID",
      "TMPDIR",
    ],
  });
});

test("level C shows neither the files of the host nor those of other versions", async () => {
  const secret = join(fixture.directory, "secret");
  writeFileSync(secret, "s", { mode: 0o644 });
  const paths = ["/etc/passwd", "/etc/hostname", "/root", "/tmp", "/dev/shm", fixture.directory, secret];
  const refused = await call(`
refused = {}
for path in ${JSON.stringify(paths)}:
    try:
        os.listdir(path) if os.path.isdir(path) else open(path).read()
    except OSError as error:
        refused[path] = type(error).__name__
return refused`);
  rmSync(secret);
  expect(refused).toEqual(Object.fromEntries(paths.map((path) => [path, "PermissionError"])));
});

test("level C refuses namespaces, tracing, path sockets, the network and signals to the zygote", async () => {
  expect(
    await call(`
import ctypes, socket
libc = ctypes.CDLL(None, use_errno=True)
def code(result): return ctypes.get_errno() if result == -1 else 0
def refusal(action):
    try:
        action()
    except OSError as error:
        return error.errno
    return 0
return [code(libc.unshare(0x10000000)), code(libc.ptrace(0, 0, None, None)),
    refusal(lambda: socket.socket(socket.AF_UNIX)), refusal(lambda: socket.socket(socket.AF_INET)), refusal(lambda: os.kill(os.getppid(), 0))]`),
  ).toEqual({ value: [1, 1, 1, 97, 1] });
});

test("at level C, a developer's version has the network of the machine unless it asks for none", async () => {
  const sandbox = await findTestSandbox({ bubblewrapPath: "/nonexistent", trustsCode: true });
  const developers = await createFixture({ sandbox });
  const program = `
import socket
def run(data, params):
    try:
        socket.socket(socket.AF_INET).close()
    except OSError as error:
        return error.errno
    return 0`;
  const open = (await developers.finish(developers.createVersion(program))).result;
  const closed = (await developers.finish(developers.createVersion(program, { network: "none" }))).result;
  await developers.close();
  expect([open, closed]).toEqual([{ value: 0 }, { value: 97 }]);
});

test("level C holds while a module is imported, too", async () => {
  const program = `
import ctypes, socket
libc = ctypes.CDLL(None, use_errno=True)
found = [libc.unshare(0x10000000), ctypes.get_errno()]
def refusal(action):
    try:
        action()
    except OSError as error:
        return error.errno
    return 0
found.append(refusal(lambda: open("/etc/passwd").read()))
found += [refusal(lambda: socket.socket(socket.AF_UNIX)), refusal(lambda: socket.socketpair(type=socket.SOCK_DGRAM))]
found += [refusal(lambda: socket.socket(type=kind)) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
socket.socketpair()
def run(params):
    return found
`;
  const { result } = await fixture.finish(fixture.createVersion(program), { params: {} });
  expect(result).toEqual({ value: [-1, 1, 13, 1, 1, 97, 97] });
});

test("level C ends what a version has started with its zygote, even from sessions of its own", async () => {
  const marker = "1234.606";
  const program = `
import os, subprocess
def run(params):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "${marker}"])
        os._exit(0)
    os.wait()
    while True:
        pass
`;
  const run = fixture.start(fixture.createVersion(program), { params: {}, timeoutSeconds: 60 });
  await waitFor("user code runs", () => findProcesses(marker).length === 1);
  const zygotes = findProcesses(`${fixture.directory}/run/runner`).filter((pid) => !isLauncher(pid));
  // The zygote first: what it has adopted is the warden's from then on.
  for (const pid of zygotes) killIfAlive(pid);
  expect(await run.outcome).toMatchObject({ status: "UNKNOWN" });
  await run.ended;
  expect(findProcesses(marker)).toEqual([]);
});

test("level C leaves nothing of an import that is killed for its memory, also what is forked meanwhile", async () => {
  const own = await createLimitedFixture("C", "looks");
  try {
    const program = `
import mmap, os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def flee(end):
    os.setsid()
    while time.monotonic() < end:
        try:
            if os.fork() != 0:
                os._exit(0)
        except OSError:
            time.sleep(0.001)
    os._exit(0)
if os.fork() == 0:
    flee(time.monotonic() + 100)
memory = mmap.mmap(-1, 400 << 20)
for at in range(0, len(memory), 4096):
    memory[at] = 1
time.sleep(60)
`;
    const begun = performance.now();
    const { outcome } = await own.finish(own.createVersion(program, { resources: { cpu: 1, memory: 0.1 } }));
    expect(outcome).toMatchObject({ code: "OUT_OF_MEMORY" });
    // What is left has the connections of its zygote, whose end is waited for: it lives for 100 seconds. It is too quick to be found.
    expect(performance.now() - begun).toBeLessThan(60_000);
  } finally {
    await own.close();
  }
});

test.each([
  ["warden", 0],
  ["steward", 1],
])("level C starts a version again whose %s was killed, and leaves nothing of it", async (_who, depth) => {
  const own = await createFixture({}, "C");
  try {
    const version = own.createVersion("def run():\n    return 1");
    await own.finish(version);
    const all = findProcesses(`${own.directory}/run/runner`);
    const folders = readdirSync(join(own.directory, "run", "z")).map((name) =>
      join(own.directory, "run", "z", name),
    );
    expect(folders).toHaveLength(1);
    const isBelow = (pid: number): boolean => all.includes(readStat(pid)?.parent ?? 0);
    for (const pid of all.filter((one) => isLauncher(one) && isBelow(one) === depth > 0)) killIfAlive(pid);
    await waitFor("its zygote has ended", () => all.every((pid) => !existsSync(`/proc/${pid}`)));
    // An execution that is handed to one of its children before the runtime knows may have begun, for all that it knows: it is UNKNOWN.
    await waitFor("the runtime knows", () => folders.every((folder) => !existsSync(folder)));
    expect((await own.finish(version)).outcome.status).toBe("SUCCEEDED");
  } finally {
    await own.close();
  }
});

test.each(["auto", "spawn"] as const)(
  "level C gives a run its connections, and no other descriptor of the platform (%s)",
  async (startMode) => {
    const program = `
import os
def describe(name):
    try:
        return os.readlink(f"/proc/self/fd/{name}").split(":")[0]
    except OSError:
        return None  # the one that listed the folder
def run(params):
    return sorted(text for text in map(describe, os.listdir("/proc/self/fd")) if text)
`;
    const { result } = await fixture.finish(fixture.createVersion(program, { startMode }), { params: {} });
    expect(result).toEqual({ value: ["/dev/null", "socket", "socket", "socket"] });
  },
);

test("level C bounds the processes of a version, and leaves some to its zygote; a run cannot raise the limit", async () => {
  const program = `
import resource
IMPORTED = resource.getrlimit(resource.RLIMIT_NPROC)
def run(params):
    limits = resource.getrlimit(resource.RLIMIT_NPROC)
    try:
        resource.setrlimit(resource.RLIMIT_NPROC, IMPORTED)
    except ValueError:
        return [*IMPORTED, *limits]
`;
  const { result } = await fixture.finish(fixture.createVersion(program), { params: {} });
  const { value } = result as { readonly value: readonly number[] };
  const [most = 0] = value;
  expect(value).toEqual([most, most, most - 128, most - 128]);
  expect(most).toBeGreaterThanOrEqual(2048);
  // As root the count is that of the version alone.
  expect(process.getuid?.() === 0 ? most : 2048).toBe(2048);
});

/** What Landlock does not judge: permissions, times and attributes; and how names of files are found out. */
const VANDAL = `
import ctypes, glob, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)

def watch(path):
    if libc.inotify_add_watch(libc.inotify_init(), path.encode(), 0x100) < 0:
        raise OSError(ctypes.get_errno(), "inotify")

ACTIONS = {
    "chmod": lambda path: os.chmod(path, 0),
    "chmod by descriptor": lambda path: os.chmod(os.open(path, os.O_RDONLY), 0),
    "utime": lambda path: os.utime(path, (1, 1)),
    "setxattr": lambda path: os.setxattr(path, "user.x", b"x"),
    "list": os.listdir,
    "watch": watch,
}

def attack():
    home = os.environ["HOME"]
    scratch = os.path.dirname(home)
    done = []
    for folder in (scratch, os.path.dirname(scratch)):
        for name, action in ACTIONS.items():
            try:
                action(folder)
                done.append([name, os.path.basename(folder)])
            except OSError:
                pass
    for number in range(100):
        try:
            os.chmod(f"{scratch}/{number}", 0)
            done.append(number)
        except OSError:
            pass
    return done

def use():
    home = os.environ["HOME"]
    path = os.path.join(home, "mine")
    for folder in (home, os.environ["OUTPUT_DIRECTORY"]):
        os.chmod(folder, 0o750)
        os.utime(folder)
    open(path, "w").close()
    os.chmod(path, 0o640)
    watch(home)
    return sorted(os.listdir(home))

def run(data):
    print("begun")
    if data["attacks"]:
        return attack()
    time.sleep(data["seconds"])
    return use()
`;

describe.runIf(process.getuid?.() === 0).each(["auto", "spawn"] as const)(
  "as root, with the start mode %s",
  (startMode) => {
    test("a run at level C changes no folder that it shares with its siblings, finds none of theirs, and does with its own what it likes", async () => {
      const version = fixture.createVersion(VANDAL, { startMode });
      const victim = fixture.start(version, { data: { attacks: false, seconds: 2 } });
      await waitFor("the victim runs", () => victim.lines.length > 0);
      expect((await fixture.finish(version, { data: { attacks: true } })).result).toEqual({ value: [] });
      const finished = await victim.outcome;
      const found = finished.status === "SUCCEEDED" ? Buffer.from(finished.result).toString() : finished;
      expect(found).toBe('{"value": ["mine","output"]}');
      const next = await fixture.finish(version, { data: { attacks: false, seconds: 0 } });
      expect(next.result).toEqual({ value: ["mine", "output"] });
    });
  },
);

test("level C removes the folder of an execution when it has ended", async () => {
  const version = fixture.createVersion("import os\ndef run():\n    return os.environ['HOME']");
  const { result } = await fixture.finish(version);
  const { value } = result as { readonly value: string };
  expect(existsSync(dirname(value))).toBe(true);
  await waitFor("it is removed", () => !existsSync(value));
});

const PROGRAM =
  "import os, time\ndef run(data):\n    exec(data['code'], scope := {**globals()})\n    return scope.get('made')\n";
const hasGroups = (await findTestSandbox()).cgroups !== null;

describe.runIf(hasGroups)("with control groups, level C limits each execution", () => {
  test("its processes: a fork bomb makes no more than 256, and a sibling starts beside it", async () => {
    const version = fixture.createVersion(PROGRAM);
    const code = `
made = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60)
        made += 1
except OSError:
    print("full")
    time.sleep(1)`;
    const bomb = fixture.start(version, { data: { code } });
    await waitFor("the bomb is full", () => bomb.lines.length > 0);
    expect((await fixture.finish(version, { data: { code: "made = 7" } })).result).toEqual({ value: 7 });
    const outcome = await bomb.outcome;
    await bomb.ended;
    const made = outcome.status === "SUCCEEDED" ? Buffer.from(outcome.result).toString() : "";
    expect(JSON.parse(made)).toEqual({ value: expect.any(Number) });
    expect((JSON.parse(made) as { readonly value: number }).value).toBeLessThan(256);
  });
});

const IS_ROOT = process.getuid?.() === 0;
const USERS: readonly User[] = [
  ["the user of this process", IS_ROOT, (command) => command],
  ...(IS_ROOT ? [["an ordinary user", false, asOrdinaryUser] as const] : []),
];

test.each<User>(USERS)(
  "a host that refuses user namespaces reaches level C as %s",
  async (_who, isRoot, become) => {
    const [program, ...args] = become(refuseNamespaces([process.execPath, SAY_LEVEL]));
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    expect(JSON.parse(await readOutput(child))).toMatchObject({
      report: {
        level: "C",
        // An ordinary user is told that all code must be trusted.
        missing: expect.arrayContaining(
          ["user namespaces", ...(isRoot ? [] : ["users of their own"])].map((piece) =>
            expect.objectContaining({ piece }),
          ),
        ),
      },
      status: "SUCCEEDED",
      result: { canRead: false },
    });
  },
);
