import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTACKED_LEVELS, createAttackedFixture } from "../testing/attack-levels.ts";
import { findProcesses } from "../testing/find-processes.ts";
import { waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

/* What a project brings along is executed as its program, and never in the place of the runner. */

const HIJACK = "import os\nos.write(2, b'HIJACKED')\nos._exit(66)\n";
/** What Python imports by itself at its start, what the runner imports, and the runner itself. */
const SHADOWED = [
  "sitecustomize.py",
  "usercustomize.py",
  "site.py",
  "encodings/__init__.py",
  "service_runner/__init__.py",
  "__main__.py",
  "os.py",
  "json.py",
  "signal.py",
  "socket.py",
  "struct.py",
  "resource.py",
  "select.py",
  "ctypes/__init__.py",
];

describe.each(ATTACKED_LEVELS)("at level %s", (level) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createAttackedFixture(level, { times: { exitMs: 300 } });
  });
  afterAll(() => fixture.close());

  test.each(["auto", "spawn"] as const)(
    "files of the project that are named like the runner's modules are not imported by it (%s)",
    async (startMode) => {
      const files = Object.fromEntries(
        SHADOWED.flatMap((path) => [path, `src/${path}`]).map((path) => [path, HIJACK]),
      );
      const variables = { PYTHONSTARTUP: "/app/json.py", PYTHONPATH: "/app", PYTHONHOME: "/app" };
      const version = fixture.createVersion("def run():\n    return 1\n", { startMode, variables }, files);
      expect(await fixture.runtime.probe(version)).toMatchObject({ ok: true });
      const { result, lines } = await fixture.finish(version);
      expect([result, lines]).toEqual([{ value: 1 }, []]);
    },
  );

  test("a process that the import left behind, out of its session, ends with the version", async () => {
    const marker = `left-by-import-${process.pid}`;
    const program = `
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/bin/sh", ["${marker}", "-c", "trap '' TERM HUP INT; while :; do sleep 1; done"])
    os._exit(0)
os.wait()
def run(): return 1
`;
    const version = fixture.createVersion(program);
    expect((await fixture.finish(version)).result).toEqual({ value: 1 });
    await waitFor("it runs", () => findProcesses(marker).length > 0);
    await fixture.runtime.retire(version.id);
    await waitFor("it has ended", () => findProcesses(marker).length === 0);
  });

  test.runIf(level === "C")(
    "an import changes neither limits nor priority of the warden, which the kernel would kill or never run, and its own as it likes",
    async () => {
      const program = `
import ctypes, os, resource, threading
LIBC = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    if getattr(LIBC, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
ACTIONS = {
    "limit": lambda pid: resource.prlimit(pid, resource.RLIMIT_MSGQUEUE, (0, 0)),
    "priority": lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 19),
    "of a group": lambda pid: os.setpriority(os.PRIO_PGRP, os.getpgid(pid), 19),
    "of a user": lambda pid: os.setpriority(os.PRIO_USER, os.getuid(), 19),
    "policy": lambda pid: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0)),
    "processors": lambda pid: os.sched_setaffinity(pid, os.sched_getaffinity(0)),
    "signal": lambda pid: os.kill(pid, 0),
    "disk": lambda pid: call("syscall", {"x86_64": 251, "aarch64": 30}[os.uname().machine], 1, pid, 3 << 13),
}
def strike(pid):
    done = []
    for name, action in ACTIONS.items():
        try:
            action(pid)
            done.append(name)
        except OSError:
            pass
    return done
def list_tasks(pid):
    return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
FOUND = [[strike(task) for task in list_tasks(os.getppid())], strike(os.getpid())]
def run(): return FOUND
`;
      const { result } = await fixture.finish(fixture.createVersion(program));
      const own = ["limit", "priority", "policy", "processors", "signal", "disk"];
      expect(result).toEqual({ value: [[[]], own] });
    },
  );

  test("an import that connects to its socket without end starts nothing any more, and keeps no other version waiting", async () => {
    const program = `
import os, socket
def dial(address):
    try:
        socket.socket(socket.AF_UNIX).connect(address)
        return True
    except OSError:
        return False
def ask_warden(name):
    try:
        line = socket.socket(fileno=os.dup(int(name)))
        line.send(b"0" * 32)
        answer, descriptors, _, _ = socket.recv_fds(line, 1, 3)
        for descriptor in descriptors:
            os.close(descriptor)
        return answer == b"+"
    except OSError:
        return False
for name in os.listdir("/proc/self/fd"):
    while dial(f"/proc/self/fd/{name}"):
        pass
    while int(name) > 3 and ask_warden(name):
        pass
def run(): return 1
`;
    const hostile = fixture.finish(fixture.createVersion(program));
    const beside = fixture.createVersion("def run(): return 2\n");
    expect((await fixture.finish(beside)).result).toEqual({ value: 2 });
    expect((await hostile).outcome).toMatchObject({ status: "NOT_STARTED", scope: "version" });
    expect((await fixture.finish(beside)).result).toEqual({ value: 2 });
  });
});
