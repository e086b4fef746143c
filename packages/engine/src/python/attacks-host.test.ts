import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTACKED_LEVELS, createAttackedFixture } from "../testing/attack-levels.ts";
import { createHostVictims } from "../testing/host-victims.ts";
import type { HostVictims } from "../testing/host-victims.ts";
import { INTERPRETER } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

/* The host is attacked by each program that a version brings along: a hijacked interpreter, the import, a run. */

/** Tries every way to the victims: what it read, connected to, signalled, traced and wrote. */
const ATTACK = `
import ctypes, json, os, signal, socket, sys
LIBC = ctypes.CDLL(None, use_errno=True)

def list_pids():
    return [name for name in os.listdir("/proc") if name.isdigit()]

def list_aliases(path):
    yield path
    yield "/proc/self/cwd/../../../.." + path
    yield "/app/../../.." + path
    for pid in ["self", "thread-self", *list_pids()]:
        yield f"/proc/{pid}/root{path}"
        yield f"/proc/{pid}/cwd/../../../..{path}"
    link = os.path.join(os.environ["TMPDIR"], "link")
    try:
        os.symlink(path, link)
        yield link
        os.unlink(link)
    except OSError:
        pass
    for name in os.listdir("/proc/self/fd"):
        yield f"/proc/self/fd/{name}/../../../..{path}"

def try_read(path):
    try:
        return len(open(path, "rb").read(4096)) > 0
    except OSError:
        return False

def try_write(path):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT))
        return True
    except OSError:
        return False

def try_connect(path):
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        return True
    except OSError:
        return False

def try_signal(pid, number):
    try:
        os.kill(pid, number)
        return True
    except OSError:
        return False

def try_trace(pid):
    ATTACH, DETACH = 16, 17
    if LIBC.ptrace(ATTACH, pid, 0, 0) == 0:
        LIBC.ptrace(DETACH, pid, 0, 0)
        return True
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    other = (ctypes.c_size_t * 2)(0x400000, 8)
    return LIBC.process_vm_readv(pid, vector, 1, other, 1, 0) > 0

def attack(victims):
    files, pids = victims["files"], victims["pids"]
    system = ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/mm/transparent_hugepage/enabled", "/usr/bin/x", "/etc/passwd"]
    return {
        "read": [path for path in files if any(map(try_read, list_aliases(path))) and path != "/proc/1/environ"],
        "environments": [pid for pid in [1, *pids] if victims["secret"].encode() in read_all(f"/proc/{pid}/environ")],
        "written": [path for path in [*files, *system] if any(map(try_write, list_aliases(path)))],
        "connected": any(map(try_connect, list_aliases(victims["socket"]))),
        "traced": [pid for pid in pids if try_trace(pid)],
        "signalled": [pid for pid in pids if try_signal(pid, 0)] + [pid for pid in pids[:1] if try_signal(pid, signal.SIGKILL)],
    }

def read_all(path):
    try:
        return open(path, "rb").read()
    except OSError:
        return b""
`;
const NOTHING = { read: [], environments: [], written: [], connected: false, traced: [], signalled: [] };

describe.each(ATTACKED_LEVELS)("at level %s", (level) => {
  let fixture: Fixture;
  let victims: HostVictims;
  beforeAll(async () => {
    // Without a mount namespace the import can name sockets of the host: their folders keep it out, as that of PostgreSQL does.
    victims = await createHostVictims();
    fixture = await createAttackedFixture(level);
  });
  afterAll(async () => {
    await fixture.close();
    await victims.close();
  });

  test.each(["auto", "spawn"] as const)(
    "a hijacked interpreter, the import and a run (%s) reach no file, socket or process of the host",
    async (startMode) => {
      const { secret, files, socket, pids } = victims;
      const known = JSON.stringify({ secret, files, socket, pids });
      const environment = join(fixture.directory, startMode);
      mkdirSync(environment);
      const hijacked = join(environment, "python");
      writeFileSync(
        hijacked,
        `#!${INTERPRETER} -I\n${ATTACK}\nos.environ["FOUND"] = json.dumps(attack(${known}))\nos.execv("${INTERPRETER}", ["${INTERPRETER}", *sys.argv[1:]])\n`,
      );
      chmodSync(hijacked, 0o755);
      const program = `${ATTACK}\nIMPORTED = attack(${known})\ndef run():\n    return {"interpreter": json.loads(os.environ["FOUND"]), "imported": IMPORTED, "run": attack(${known})}\n`;
      const version = fixture.createVersion(program, {
        startMode,
        interpreter: hijacked,
        readablePaths: [environment],
      });
      const { result, outcome } = await fixture.finish(version);
      expect(outcome).toMatchObject({ status: "SUCCEEDED" });
      expect(result).toEqual({ interpreter: NOTHING, imported: NOTHING, run: NOTHING });
      expect([victims.visits(), victims.isAlive()]).toEqual([0, true]);
    },
  );

  test("a run keeps the core limit with which the kernel starts no program of the host for its crash", async () => {
    const program = `
import ctypes, resource, os
LIBC = ctypes.CDLL(None)
NOTHING = (ctypes.c_uint64 * 2)(0, 0)
def run():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.prlimit(os.getpid(), resource.RLIMIT_CORE, (0, 0))
    LIBC.syscall({"x86_64": 160, "aarch64": 164}[os.uname().machine], resource.RLIMIT_CORE, NOTHING)
    return resource.getrlimit(resource.RLIMIT_CORE)
`;
    const { result } = await fixture.finish(fixture.createVersion(program));
    // Who has a hard limit of 0 cannot give more.
    const [, most = ""] =
      /^Max core file size +\S+ +(\S+)/mu.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    const limit = most === "0" ? 0 : 1;
    expect(result).toEqual({ value: [limit, limit] });
  });
});
