import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Network } from "@platform/contract/network";
import { RUNNERS } from "../testing/ordinary-user.ts";
import {
  createOutsideWorld,
  HOST_SIDE,
  METADATA,
  OTHER_OUTSIDE,
  OUTSIDE,
  OUTSIDE_PORT,
  PRIVATE,
} from "../testing/outside-world.ts";
import type { OutsideWorld } from "../testing/outside-world.ts";
import { canHaveEgress } from "../testing/version-runner.ts";
import type { VersionRunner } from "../testing/version-runner.ts";
import { DEFAULT_NETWORK_POLICY } from "./sandbox/network/network-policy.ts";
import type { NetworkPolicy } from "./sandbox/network/network-policy.ts";
import { NETWORK } from "./sandbox/network/network-plan.ts";

/** Only root can make the network that these tests need. */
const IS_ROOT = process.getuid?.() === 0;
const HAS_IPV6 = existsSync("/proc/net/if_inet6");
const HAS_EGRESS = await canHaveEgress();

/** Functions of the versions under test; `attempt` names how a connection ended. */
const PRELUDE = `
import errno, socket, struct
def attempt(host, port, device=None, family=socket.AF_INET, seconds=15):
    with socket.socket(family) as s:
        s.settimeout(seconds)
        try:
            if device is not None:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
            s.connect((host, port))
            return "connected"
        except TimeoutError:
            return "timeout"
        except OSError as error:
            return errno.errorcode.get(error.errno, str(error))
`;
const REACH = `${PRELUDE}
def run(data):
    return [[attempt(host, port), attempt(host, port, "tap0")] for host, port in data["targets"]]
`;

let world: OutsideWorld;
beforeAll(async () => {
  if (IS_ROOT) world = await createOutsideWorld();
});
afterAll(async () => {
  if (IS_ROOT) await world.close();
});

async function canConnect(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe.each(RUNNERS)("the network of versions that are run by %s", (_who, createRunner) => {
  let runner: VersionRunner;
  beforeAll(async () => {
    runner = await createRunner();
  });
  afterAll(() => runner.close());

  async function reach(
    targets: readonly (readonly [string, number])[],
    options: { readonly network?: Network | null; readonly policy?: NetworkPolicy } = {},
  ): Promise<unknown> {
    const { outcome, result } = await runner.run({ program: REACH, data: { targets }, ...options });
    expect(outcome).toMatchObject({ status: "SUCCEEDED" });
    return result instanceof Object && "value" in result ? result.value : result;
  }

  test.runIf(IS_ROOT)("a version reaches the outside, and resolves names by nothing but DNS", async () => {
    const targets = [
      [OUTSIDE, OUTSIDE_PORT],
      [NETWORK.resolver, 54],
    ] as const;
    expect(await reach(targets)).toEqual([
      ["connected", "connected"],
      ["EPERM", "EPERM"],
    ]);
  });

  test.runIf(HAS_EGRESS)(
    "a version reaches no port of the host, no metadata address and no private range, also by a socket that is bound to the device",
    async () => {
      let reached = 0;
      const server = createServer(() => (reached += 1)).listen(0, "0.0.0.0");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const own = Object.values(networkInterfaces())
        .flatMap((addresses = []) => addresses)
        .filter(({ family }) => family === "IPv4")
        .map(({ address }) => [address, port] as const);
      const away = (IS_ROOT ? [METADATA, PRIVATE] : []).map((host) => [host, OUTSIDE_PORT] as const);
      for (const [host, there] of [...own, ...away]) expect(await canConnect(host, there)).toBe(true);
      expect(own.map(([host]) => host)).toContain(IS_ROOT ? HOST_SIDE : "127.0.0.1");
      const before = reached;
      const closed = [...own, ...away, ["127.0.0.2", port], ["10.255.255.53", port]] as const;
      const ways = await reach([
        ...closed,
        [NETWORK.gateway, port],
        [NETWORK.resolver, port],
        ["0.0.0.0", port],
      ]);
      expect(ways).toEqual([
        ...[...closed, NETWORK.gateway].map(() => ["EHOSTUNREACH", "EPERM"]),
        ["EPERM", "EPERM"],
        ["ENETUNREACH", "timeout"],
      ]);
      expect(reached).toBe(before);
      server.close();
    },
  );

  test.runIf(IS_ROOT)("an address that the host gets later is closed too", async () => {
    const late = "192.31.196.77";
    const server = createServer().listen(0, "0.0.0.0");
    await once(server, "listening");
    const target = [late, (server.address() as AddressInfo).port] as const;
    await reach([]);
    execFileSync("ip", ["address", "add", `${late}/32`, "dev", "lo"]);
    try {
      expect(await canConnect(...target)).toBe(true);
      await expect.poll(() => reach([target])).toEqual([["EHOSTUNREACH", "EPERM"]]);
    } finally {
      execFileSync("ip", ["address", "delete", `${late}/32`, "dev", "lo"]);
      server.close();
    }
  });

  test.runIf(HAS_EGRESS)(
    "executions of one version, which share a network, cannot send each other anything: not by local addresses, multicast or broadcast",
    async () => {
      const program = `${PRELUDE}
def send(target, prepare=None, packet_info=False):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        index = socket.if_nametoindex("tap0")
        ancillary = [(socket.IPPROTO_IP, 8, struct.pack("i4s4s", index, bytes(4), bytes(4)))]
        try:
            if prepare == "device":
                s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"tap0")
            if prepare == "multicast":
                s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack("4s4si", bytes(4), bytes(4), index))
            s.sendmsg([b"x"], ancillary if packet_info else [], 0, (target, 6666))
        except OSError as error:
            return errno.errorcode[error.errno]

def run():
    with socket.create_server(("0.0.0.0", 5555)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sibling:
        sibling.bind(("0.0.0.0", 6666))
        sibling.settimeout(0.5)
        streams = [attempt(host, 5555, device, seconds=1) for host in ("198.18.0.100", "127.0.0.1", "0.0.0.0") for device in (None, "tap0")]
        for target in ("198.18.0.100", "127.0.0.1", "224.0.0.1", "224.0.0.251", "255.255.255.255"):
            for prepare in (None, "device", "multicast"):
                for packet_info in (False, True):
                    send(target, prepare, packet_info)
        try:
            datagrams = sibling.recv(10).decode()
        except TimeoutError:
            datagrams = "none"
        return ["connected" in streams, datagrams]
`;
      const { result } = await runner.run({ program });
      expect(result).toEqual({ value: [false, "none"] });
    },
  );

  test.runIf(HAS_EGRESS && HAS_IPV6)(
    "executions of one version cannot send each other anything over IPv6, also not from an address that they have not",
    async () => {
      const program = `${PRELUDE}
IPV6_FREEBIND = 78
def send(target, source):
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
        try:
            if source is not None:
                s.setsockopt(socket.IPPROTO_IPV6, IPV6_FREEBIND, 1)
                s.bind((source, 0))
            s.sendto(b"x", (target, 6666, 0, socket.if_nametoindex("tap0")))
            return "sent"
        except OSError as error:
            return errno.errorcode[error.errno]

def run():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sibling:
        sibling.bind(("::", 6666))
        sibling.settimeout(0.5)
        ways = [send(target, source) for target in ("ff02::1", "ff01::1") for source in (None, "2001:db8::1")]
        try:
            return [*ways, sibling.recv(10).decode()]
        except TimeoutError:
            return [*ways, "none"]
`;
      const { result } = await runner.run({ program });
      expect(result).toEqual({ value: ["EADDRNOTAVAIL", "EPERM", "EADDRNOTAVAIL", "EPERM", "none"] });
    },
  );

  test.runIf(IS_ROOT)(
    "a version with a list of hosts reaches these only, and resolves no names",
    async () => {
      const targets = [OUTSIDE, OTHER_OUTSIDE, PRIVATE, METADATA, "192.31.196.99"].map(
        (host) => [host, OUTSIDE_PORT] as const,
      );
      const hosts = [OUTSIDE, "192.31.196.128/25", PRIVATE, "169.254.0.0/16", "0.0.0.0/32"];
      const ways = await reach([...targets, [NETWORK.resolver, 53]], { network: { hosts } });
      expect(ways).toEqual([
        ["connected", "connected"],
        ["ENETUNREACH", "EPERM"],
        ["EHOSTUNREACH", "EPERM"],
        ["EHOSTUNREACH", "EPERM"],
        ["ENETUNREACH", "EPERM"],
        ["EHOSTUNREACH", "EPERM"],
      ]);
    },
  );

  test.runIf(IS_ROOT)(
    "a private range that the operator has opened is reached, apart from the host's own addresses in it",
    async () => {
      const policy = { ...DEFAULT_NETWORK_POLICY, open: ["10.99.0.0/16", `${HOST_SIDE}/32`] };
      const targets = [
        [PRIVATE, OUTSIDE_PORT],
        [METADATA, OUTSIDE_PORT],
        [HOST_SIDE, OUTSIDE_PORT],
      ] as const;
      for (const network of [null, { hosts: [PRIVATE] }])
        expect(await reach(targets, { network, policy })).toEqual([
          ["connected", "connected"],
          ["EHOSTUNREACH", "EPERM"],
          ["EHOSTUNREACH", "EPERM"],
        ]);
    },
  );

  test.runIf(HAS_EGRESS && HAS_IPV6)(
    "nothing is reached by IPv6, for which a version has no address",
    async () => {
      const program = `${PRELUDE}
def run():
    hosts = ("2001:db8::1", "fd00::2", "fe80::2", "::1", "::ffff:127.0.0.1")
    with open("/proc/net/if_inet6") as addresses:
        return [addresses.read(), *(
            attempt(host, 80, device, socket.AF_INET6) for device in (None, "tap0") for host in hosts
        )]
`;
      const without = ["EADDRNOTAVAIL", "EADDRNOTAVAIL"];
      expect((await runner.run({ program })).result).toEqual({
        value: [
          "",
          ...without,
          "EINVAL",
          "EADDRNOTAVAIL",
          "EHOSTUNREACH",
          ...without,
          "EADDRNOTAVAIL",
          "EADDRNOTAVAIL",
          "EPERM",
        ],
      });
    },
  );

  test("a version without a network reaches nothing but itself, and can run a local server", async () => {
    const program = `${PRELUDE}
def run():
    names = [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]
    with socket.create_server(("127.0.0.1", 5555)):
        return [names, attempt("127.0.0.1", 5555), attempt("${OUTSIDE}", ${OUTSIDE_PORT})]
`;
    const { result } = await runner.run({ program, network: "none" });
    expect(result).toEqual({ value: [["lo"], "connected", "ENETUNREACH"] });
  });

  test("a failed connection says that the version has no network, in the words of its platform.json", async () => {
    const program = `
import socket
def run():
    socket.create_connection(("192.0.2.1", 80), 1)
`;
    const { outcome } = await runner.run({ program, network: "none" });
    expect(outcome).toMatchObject({ status: "FAILED", code: "CONNECTION_ERROR" });
    expect(outcome).toHaveProperty(
      "detail",
      expect.stringMatching(
        /^Could not connect to 192\.0\.2\.1: OSError: .*unreachable\. The service has no network: "network" in platform\.json is "none"\.$/,
      ),
    );
  });

  test.runIf(IS_ROOT)("the import of a version has the network already", async () => {
    const program = `${PRELUDE}
at_import = attempt("${OUTSIDE}", ${OUTSIDE_PORT})
def run():
    return at_import
`;
    expect((await runner.run({ program })).result).toEqual({ value: "connected" });
  });

  test.runIf(HAS_EGRESS)("a version sees no names of the host's network", async () => {
    const program = `
def run():
    return [open(path).read() for path in ("/etc/hosts", "/etc/resolv.conf")]
`;
    const { result } = await runner.run({ program });
    expect(result).toEqual({
      value: ["127.0.0.1 localhost service\n::1 localhost\n", `nameserver ${NETWORK.resolver}\n`],
    });
  });
});
