import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTACKED_LEVELS } from "../testing/attack-levels.ts";
import { findProcesses } from "../testing/find-processes.ts";
import { copyRunnerOfOldKernel } from "../testing/old-landlock.ts";
import { createFixture, findTestSandbox, waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

/* Level C on Linux 5.19 to 6.11, whose Landlock judges no signals: the filter alone keeps them from the warden. */

/** What sends a signal; the signal 0 is sent to nobody, and refused as all others are. */
const SENDERS = `
import ctypes, fcntl, os, signal, socket, struct, time
LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"tkill": 200, "tgkill": 234, "queue": 129, "queue to thread": 297},
    "aarch64": {"tkill": 130, "tgkill": 131, "queue": 138, "queue to thread": 240},
}[os.uname().machine]
INFO = struct.pack("<iii", 0, 0, -1).ljust(128, b"\\0")  # SI_QUEUE
def call(name, *arguments):
    if LIBC.syscall(NUMBERS[name], *arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
def by_descriptor(descriptor):
    try:
        signal.pidfd_send_signal(descriptor, 0)
    finally:
        os.close(descriptor)  # what is open after the import is not forked
def own(change, *arguments):
    one, other = socket.socketpair()
    with one, other:
        change(one, *arguments)
SENDERS = {
    "kill": lambda pid: os.kill(pid, 0),
    "kill its group": lambda pid: os.kill(-os.getpgid(pid), 0),
    "kill all": lambda pid: os.kill(-1, 0),
    "tkill": lambda pid: call("tkill", pid, 0),
    "tgkill": lambda pid: call("tgkill", pid, pid, 0),
    "queue": lambda pid: call("queue", pid, 0, INFO),
    "queue to thread": lambda pid: call("queue to thread", pid, pid, 0, INFO),
    "pidfd": lambda pid: by_descriptor(os.pidfd_open(pid)),
    "folder of /proc": lambda pid: by_descriptor(os.open(f"/proc/{pid}", os.O_RDONLY)),
    "owner": lambda pid: own(fcntl.fcntl, 8, pid),
    "group as owner": lambda pid: own(fcntl.fcntl, 8, -os.getpgid(pid)),
    "other owner": lambda pid: own(fcntl.fcntl, 15, struct.pack("<ii", 1, pid)),
    "owner by ioctl": lambda pid: own(fcntl.ioctl, 0x8901, struct.pack("<i", pid)),
    "group by ioctl": lambda pid: own(fcntl.ioctl, 0x8902, struct.pack("<i", -os.getpgid(pid))),
    "join its group": lambda pid: os.setpgid(CHILD, os.getpgid(pid)),
    "be in its group": lambda pid: None if os.getpgrp() == os.getpgid(pid) else os.kill(pid, 0),
}
def strike(pid):
    done = []
    for name, send in SENDERS.items():
        try:
            send(pid)
            done.append(name)
        except OSError:
            pass
    return done
`;

describe.runIf(ATTACKED_LEVELS.includes("C"))("where Landlock judges no signals", () => {
  let folder: string;
  let fixture: Fixture;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "old-kernel-"));
    chmodSync(folder, 0o755);
    const runnerDirectory = join(folder, "runner");
    copyRunnerOfOldKernel(runnerDirectory);
    const sandbox = await findTestSandbox({ bubblewrapPath: "/nonexistent", runnerDirectory });
    fixture = await createFixture({ sandbox, runnerDirectory, times: { exitMs: 300 } });
  });
  afterAll(async () => {
    await fixture.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("an import sends the warden no signal, by its number, its group, a descriptor or as the owner of a file, and its own processes any", async () => {
    const program = `${SENDERS}
CHILD = os.fork()
if CHILD == 0:
    time.sleep(600)
FOUND = [strike(os.getppid()), strike(CHILD)]
os.killpg(os.getpgrp(), 0)
os.kill(CHILD, signal.SIGKILL)
ENDED = os.waitstatus_to_exitcode(os.waitpid(CHILD, 0)[1])
def run(): return [*FOUND, ENDED]
`;
    const { result, lines } = await fixture.finish(fixture.createVersion(program));
    expect(lines).toEqual([]);
    const own = ["kill", "kill its group", "tkill", "tgkill", "queue", "queue to thread"];
    expect(result).toEqual({ value: [[], [...own, "join its group", "be in its group"], -9] });
  });

  test("what an import has started ends with the version, also when it has tried to end the warden", async () => {
    const marker = `left-by-import-before-6.12-${process.pid}`;
    const program = `
import os, signal
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/bin/sh", ["${marker}", "-c", "trap '' TERM HUP INT; while :; do sleep 1; done"])
    os._exit(0)
os.wait()
for number in (signal.SIGSTOP, signal.SIGKILL):
    try:
        os.kill(os.getppid(), number)
    except PermissionError:
        pass
def run(): return 1
`;
    const version = fixture.createVersion(program);
    expect((await fixture.finish(version)).result).toEqual({ value: 1 });
    await waitFor("it runs", () => findProcesses(marker).length > 0);
    await fixture.runtime.retire(version.id);
    await waitFor("it has ended", () => findProcesses(marker).length === 0);
  });

  test("a run sends signals to itself only", async () => {
    const program = `${SENDERS}
def run():
    global CHILD
    CHILD = 0
    own = strike(os.getpid())
    return [own, strike(os.getppid())]
`;
    const { result } = await fixture.finish(fixture.createVersion(program));
    expect(result).toEqual({ value: [expect.arrayContaining(["kill", "tgkill"]), []] });
  });
});
