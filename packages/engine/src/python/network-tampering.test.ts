import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RUNNERS } from "../testing/ordinary-user.ts";
import { canHaveEgress } from "../testing/version-runner.ts";
import type { VersionRunner } from "../testing/version-runner.ts";

const HAS_EGRESS = await canHaveEgress();

/** Tries to change the network that a version has; `tamper` names how each attempt ended. */
const TAMPER = `
import errno, fcntl, json, os, socket, struct

def name(error):
    return errno.errorcode.get(error.errno, str(error))

def ask(protocol, kind, body):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as s:
        s.send(struct.pack("=IHHII", 16 + len(body), kind, 5, 1, 0) + body)
        code = -struct.unpack_from("=i", s.recv(4096), 16)[0]
        if code:
            raise OSError(code, "refused")

def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 1))

def write(path):
    with open(path, "w") as file:
        file.write("1")

ROUTE = struct.pack("=BBBBBBBBI", 2, 8, 0, 0, 254, 0, 255, 0, 0) + struct.pack("=HH4B", 8, 1, 10, 0, 0, 0)
ADDRESS = struct.pack("=BBBBi", 10, 64, 0, 0, 2) + struct.pack("=HH16s", 20, 2, bytes([0xfd]) + bytes(15))
SETTINGS = "/proc/sys/net/ipv4/conf"
ATTEMPTS = {
    "forget the policies": lambda: ask(6, 0x1d, b""),
    "delete a closed route": lambda: ask(0, 25, ROUTE),
    "add an IPv6 address": lambda: ask(0, 20, ADDRESS),
    "raise the loopback device": raise_loopback,
    "write packets of any kind": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0),
    "write IP headers": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 255),
    "switch off policies": lambda: write(SETTINGS + "/all/disable_policy"),
    "switch off policies of the device": lambda: write(SETTINGS + "/tap0/disable_xfrm"),
}

def tamper():
    ends = {}
    for what, attempt in ATTEMPTS.items():
        try:
            attempt()
            ends[what] = "done"
        except OSError as error:
            ends[what] = name(error)
    return ends

def tamper_as_root_of_a_namespace():
    """With all capabilities of a user namespace, and a /proc of its own, as the runner makes them for its children."""
    from service_runner import kernel, namespaces
    from service_runner.calls import Calls
    uid, gid = os.getuid(), os.getgid()
    reading, writing = os.pipe()
    flags = kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWPID
    pid = kernel.Clone(flags).make()
    if pid == 0:
        try:
            for path, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
                with open("/proc/self/" + path, "w") as file:
                    file.write(text)
            view = Calls()
            namespaces.add_mount(view, "proc", "/proc", 0xE, "")  # neither set-uid files, devices nor programs
            view.make()
            ends = tamper()
        except BaseException as error:
            ends = repr(error)
        os.write(writing, json.dumps(ends).encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as file:
        ends = json.load(file)
    os.waitpid(pid, 0)
    return ends

at_import = [tamper(), tamper_as_root_of_a_namespace()]

def run():
    return [*at_import, tamper()]
`;

describe.runIf(HAS_EGRESS).each(RUNNERS)("of versions that are run by %s", (_who, createRunner) => {
  let runner: VersionRunner;
  beforeAll(async () => {
    runner = await createRunner();
  });
  afterAll(() => runner.close());

  test("neither code at import nor a run can change the network, also not with all capabilities of a user namespace", async () => {
    const { result } = await runner.run({ program: TAMPER, network: "egress" });
    const refused = expect.stringMatching(/^(?:EPERM|EACCES|EROFS|EAFNOSUPPORT|EPROTONOSUPPORT)$/u);
    const all = {
      "forget the policies": refused,
      "delete a closed route": refused,
      "add an IPv6 address": refused,
      "raise the loopback device": refused,
      "write packets of any kind": refused,
      "write IP headers": refused,
      "switch off policies": refused,
      "switch off policies of the device": refused,
    };
    expect(result).toEqual({ value: [all, all, all] });
  });
});
