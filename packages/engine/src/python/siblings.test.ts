import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAttackedFixture, FILTERED_LEVELS } from "../testing/attack-levels.ts";
import { createFixture, findTestSandbox, waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";

/* One run attacks the others of its version: they may be those of other callers. */

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture({ slots: 8 });
});
afterAll(() => fixture.close());

const VICTIMS = 6;
/** So many that the first runs before the last is made. */
const BURST = 60;

/** The attack as one function: what it found, reached and received. */
const ATTACK = `
import json, os, re, signal, socket, struct, sys, time

def read_memory():
    found = []
    for line in open("/proc/self/maps"):
        span, rights = line.split()[:2]
        if rights.startswith("rw"):
            begin, end = (int(text, 16) for text in span.split("-"))
            try:
                with open("/proc/self/mem", "rb", buffering=0) as memory:
                    memory.seek(begin)
                    found.append(memory.read(end - begin))
            except (OSError, OverflowError, ValueError):
                pass
    return b"".join(found)

def read_frames():
    frame, found = sys._getframe(), []
    while frame is not None:
        found.append(repr(frame.f_locals))
        frame = frame.f_back
    return "".join(found).encode()

def find_tokens(text):
    return sorted(set(re.findall(rb"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])", text)))

def list_strangers():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in (os.getpid(), 1)]

def list_addresses():
    addresses = ["/run/platform/zygote/home"]
    for pid in ["self", *list_strangers()]:
        try:
            addresses += [f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd")]
            addresses.append(f"/proc/{pid}/root/run/platform/zygote/home")
        except OSError:
            pass
    return addresses

def dial(address):
    try:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(1)
        connection.connect(address)
    except OSError:
        return None
    return connection

def send_signal(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True

def impersonate(address, token):
    lines = {}
    for channel in "oec":
        lines[channel] = dial(address)
        if lines[channel] is None:
            return b""
        lines[channel].sendall(struct.pack(">IB", 33, 1) + channel.encode() + token)
    try:
        lines["c"].sendall(struct.pack(">IB", 0, 19))
        request = lines["c"].recv(65536)
        forged = b'"forged"'
        lines["c"].sendall(struct.pack(">IB", len(forged), 17) + forged)
        return request
    except OSError:
        return b""

def attack():
    # Its own group is that of others only where a pid namespace hides who they are.
    for group in (0, -1, -2) if os.getpid() == 1 else (-1, -2):
        send_signal(group, signal.SIGKILL)
    stopped = [pid for pid in list_strangers() if send_signal(pid, signal.SIGSTOP)]
    doors = [address for address in list_addresses() if dial(address) is not None]
    tokens = find_tokens(read_frames() + read_memory() + repr(os.environ).encode())
    received = [impersonate(address, token) for address in doors for token in tokens[:100]]
    flood = [dial(address) for address in doors for _ in range(100)]
    ended = [pid for pid in list_strangers() if send_signal(pid, signal.SIGKILL)]
    if os.getppid() != 0 and send_signal(os.getppid(), signal.SIGKILL):
        ended.append(os.getppid())
    return {"stopped": len(stopped), "doors": doors, "received": [text.decode("latin1") for text in received if text], "ended": len(ended)}
`;
const PROGRAM = `${ATTACK}
def run(data):
    if data["attacks"]:
        return attack()
    return data["secret"]
`;

const MODES = FILTERED_LEVELS.flatMap((level) => [[level, "auto"] as const, [level, "spawn"] as const]);

describe.each(MODES)("at level %s, with the start mode %s", (level, startMode) => {
  let attacked: Fixture;
  beforeAll(async () => {
    attacked = await createAttackedFixture(level, { slots: 8 });
  });
  afterAll(() => attacked.close());

  test("a run reaches no sibling and no zygote: not by signals, not in memory, not by dialling home", async () => {
    const version = attacked.createVersion(PROGRAM, { startMode });
    const attacker = attacked.finish(version, { data: { attacks: true } });
    const victims = Array.from({ length: VICTIMS }, (_, n) =>
      attacked.finish(version, { data: { attacks: false, secret: `secret ${n}` } }),
    );
    expect((await attacker).result).toEqual({ stopped: 0, doors: [], received: [], ended: 0 });
    const secrets = (await Promise.all(victims)).map(({ result }) => result);
    expect(secrets).toEqual(Array.from({ length: VICTIMS }, (_, n) => ({ value: `secret ${n}` })));
    expect((await attacked.finish(version, { data: { attacks: false, secret: "after" } })).result).toEqual({
      value: "after",
    });
  });
});

test("also where a run finds the socket, no token in its memory is worth anything", async () => {
  const open = await createFixture({ slots: BURST }, "D");
  const program = `${ATTACK}
def run(data):
    if data["attacks"]:
        own = f"/proc/{os.getppid()}/fd/"
        doors = [own + name for name in os.listdir(own) if dial(own + name) is not None]
        found = find_tokens(read_frames())  # quick: the last children are still being made
        received = [impersonate(address, token) for address in doors for token in found]
        return [len(doors) > 0, len(found) > 0, [text.decode("latin1") for text in received if text]]
    return data["secret"]
`;
  const version = open.createVersion(program);
  const attacker = open.finish(version, { data: { attacks: true } });
  const victims = Array.from({ length: BURST }, () =>
    open.finish(version, { data: { attacks: false, secret: "kept" } }),
  );
  expect((await attacker).result).toEqual({ value: [true, true, []] });
  for (const { result } of await Promise.all(victims)) expect(result).toEqual({ value: "kept" });
  await open.close();
});

test("a terminal that a run opens is not there for others", async () => {
  const program = `
import os, pty, time
def run(data):
    opened = os.ttyname(pty.openpty()[1]) if data["opens"] else None
    print("begun")
    if data["opens"]:
        time.sleep(60)
    return sorted(os.listdir("/dev/pts"))
`;
  const version = fixture.createVersion(program);
  const holder = fixture.start(version, { data: { opens: true } });
  await waitFor("a terminal is open", () => holder.lines.length > 0);
  expect((await fixture.finish(version, { data: { opens: false } })).result).toEqual({ value: ["ptmx"] });
  holder.kill({ code: "CANCELLED", detail: "enough" });
  await holder.ended;
});

const INHERITED = `
import os
DATA = open("/app/data.txt")
def describe(name):
    try:
        return os.readlink(f"/proc/self/fd/{name}").split(":")[0]
    except OSError:
        return None  # the one that listed the folder
def run():
    found = [text for text in map(describe, os.listdir("/proc/self/fd")) if text]
    return [sorted(found), os.getpid(), os.getppid(), [name for name in os.listdir("/proc") if name.isdigit()]]
`;

/** Bubblewrap behind a script that leaves a descriptor open, as service managers and shells do. */
async function createLeakySandbox(): Promise<Sandbox> {
  const gate = join(fixture.directory, "bwrap");
  writeFileSync(gate, '#!/bin/sh\nexec 7</dev/zero\nexec bwrap "$@"\n', { mode: 0o755 });
  return findTestSandbox({ bubblewrapPath: gate });
}

test.each(["auto", "spawn"] as const)(
  "with the start mode %s a run inherits its connections and what it opened for reading, and sees itself alone",
  async (startMode) => {
    const leaky = await createFixture({ slots: 8, sandbox: await createLeakySandbox() });
    const version = leaky.createVersion(INHERITED, { startMode }, { "data.txt": "x" });
    const descriptors = ["/app/data.txt", "/dev/null", "socket", "socket", "socket"];
    const runs = Array.from({ length: VICTIMS }, () => leaky.finish(version));
    for (const { result } of await Promise.all(runs))
      expect(result).toEqual({ value: [descriptors, 1, 0, ["1"]] });
    await leaky.close();
  },
);
