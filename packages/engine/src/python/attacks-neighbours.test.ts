import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTACKED_LEVELS, createAttackedFixture } from "../testing/attack-levels.ts";
import { waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

/* A run attacks another that runs at the same time, of its own version or of another; siblings.test.ts has what only siblings share. */

const SECRET = "6b1f-secret-of-the-victim";

/** Leaves its secret wherever a run may, and prints what has become of it twenty times a second. */
const VICTIM = `
import ctypes, mmap, os, time
def stay(secret):
    LIBC = ctypes.CDLL(None, use_errno=True)
    memory, nice = bytearray(secret.encode()), os.nice(0)
    os.environ["SECRET"] = secret
    shared = mmap.mmap(-1, 4096)
    shared[:len(secret)] = secret.encode()
    paths = ["/tmp/secret", "/dev/shm/secret"] if os.environ["TMPDIR"] == "/tmp" else [os.environ["TMPDIR"] + "/secret"]
    for path in paths:
        open(path, "w").write(secret)
    LIBC.shmat.restype = ctypes.c_void_p
    identity = LIBC.shmget(0x5EC, 4096, 0o1666)
    segment = ctypes.create_string_buffer(4096)
    if identity >= 0:
        segment = (ctypes.c_char * 4096).from_address(LIBC.shmat(identity, 0, 0))
    segment.value = secret.encode()
    while True:
        kept = [memory.decode(), os.environ["SECRET"], shared[:len(secret)].decode(), segment.value.decode(), *(open(path).read() for path in paths)]
        is_intact = kept == [secret] * len(kept) and os.nice(0) == nice
        print("intact" if is_intact else kept, flush=True)
        time.sleep(0.05)
`;
const ATTACK = `
import ctypes, os, resource, signal

def read(path):
    try:
        return open(path, "rb").read(1 << 20)
    except OSError:
        return b""

def read_tree(folder):
    found = [folder.encode()]
    for root, _, names in os.walk(folder, onerror=None):
        found += [read(os.path.join(root, name)) for name in names]
    return b"".join(found)

def list_scratch():
    """Where there is no private /tmp, the folders of siblings lie beside one's own."""
    return [] if os.environ["TMPDIR"] == "/tmp" else [os.path.dirname(os.environ["TMPDIR"])]

def list_others():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in (os.getpid(), os.getppid())]

def overwrite(path):
    try:
        with open(path, "r+b") as file:
            file.write(b"destroyed")
    except OSError:
        pass

def attack(secret):
    LIBC = ctypes.CDLL(None, use_errno=True)
    LIBC.shmat.restype = ctypes.c_void_p
    texts = {
        "files": b"".join(map(read_tree, ["/tmp", "/dev/shm", "/run", "/var/tmp", os.getcwd(), *list_scratch()])),
        "folders": b"".join(read(f"/proc/{pid}/root{path}") for pid in list_others() for path in ("/tmp/secret", "/dev/shm/secret")) + b"".join(read(f"/proc/{pid}/fd/{number}") for pid in list_others() for number in range(3, 10)),
        "processes": b"".join(read(f"/proc/{pid}/{name}") for pid in list_others() for name in ("environ", "cmdline", "mem")),
    }
    segment = LIBC.shmat(LIBC.shmget(0x5EC, 4096, 0o666), 0, 0)
    if segment not in (None, 2**64 - 1):
        texts["segment"] = ctypes.string_at(segment, 64)
        ctypes.memset(segment, 120, 64)
    for path in ("/tmp/secret", "/dev/shm/secret"):
        overwrite(path)
    def strike(number):
        for pid in [*list_others(), os.getppid() or None, -1]:
            if pid is not None:
                try:
                    os.kill(pid, number)
                except OSError:
                    pass
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
        strike(number)
    for which in (os.PRIO_PGRP, os.PRIO_USER):
        try:
            os.setpriority(which, 0, 19)
        except OSError:
            pass
    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU):
        for pid in list_others():
            try:
                resource.prlimit(pid, limit, (1, 1))
            except OSError:
                pass
    return sorted(name for name, text in texts.items() if secret.encode() in text)
`;
/** The secret is composed, so that the program itself does not hold what the attack searches. */
const PROGRAM = `${VICTIM}${ATTACK}
def run(data):
    secret = "-".join(data["parts"])
    return attack(secret) if data["attacks"] else stay(secret)
`;
const PARTS = SECRET.split("-");

describe.each(ATTACKED_LEVELS)("at level %s", (level) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createAttackedFixture(level);
  });
  afterAll(() => fixture.close());

  test.each([
    ["its own version", "auto"],
    ["its own version", "spawn"],
    ["another version", "auto"],
  ] as const)("a run cannot read, change, stop or end another of %s (%s)", async (whose, startMode) => {
    const version = fixture.createVersion(PROGRAM, { startMode });
    const other = whose === "its own version" ? version : fixture.createVersion(PROGRAM, { startMode });
    const victim = fixture.start(version, { data: { attacks: false, parts: PARTS } });
    await waitFor("the victim runs", () => victim.lines.length > 0);
    for (let round = 0; round < 3; round += 1) {
      const { outcome, result } = await fixture.finish(other, { data: { attacks: true, parts: PARTS } });
      expect([outcome, result]).toEqual([expect.objectContaining({ status: "SUCCEEDED" }), { value: [] }]);
    }
    const seen = victim.lines.length;
    await waitFor("the victim goes on", () => victim.lines.length > seen + 2);
    expect(new Set(victim.lines.map(({ message }) => message))).toEqual(new Set(["intact"]));
    victim.kill({ code: "CANCELLED", detail: "It was seen." });
    expect(await victim.outcome).toMatchObject({ code: "CANCELLED" });
    await victim.ended;
  });

  test("a run that leaves folders nested very deeply costs no other run of its version anything", async () => {
    const program = `
import os, time
def run(data):
    if data["stays"]:
        print("here", flush=True)
        while True:
            time.sleep(1)
    os.chdir(os.environ["TMPDIR"])
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")
`;
    const version = fixture.createVersion(program);
    const victim = fixture.start(version, { data: { stays: true } });
    await waitFor("the victim runs", () => victim.lines.length > 0);
    for (let round = 0; round < 2; round += 1)
      expect(await fixture.finish(version, { data: { stays: false } })).toMatchObject({ result: {} });
    victim.kill({ code: "CANCELLED", detail: "It was there." });
    expect(await victim.outcome).toMatchObject({ code: "CANCELLED" });
    await victim.ended;
  });

  test.each(["auto", "spawn"] as const)(
    "a run cannot have others killed in its place where memory runs out (%s)",
    async (startMode) => {
      const program = `
import os
def lower(path):
    try:
        with open(path, "w") as file:
            file.write("0")
    except OSError:
        pass
    return open(path).read()
def run():
    pid = os.fork()
    if pid == 0:
        os._exit(0 if lower(f"/proc/{os.getpid()}/oom_score_adj") == "1000\\n" else 1)
    return [lower("/proc/self/oom_score_adj"), lower("/proc/thread-self/oom_score_adj"), os.waitpid(pid, 0)[1]]
`;
      const { result } = await fixture.finish(fixture.createVersion(program, { startMode }));
      expect(result).toEqual({ value: ["1000\n", "1000\n", 0] });
    },
  );
});
