import { SECOND } from "../../../base/time.ts";
import type { ChildProcess } from "../../../host/processes.ts";
import { NETWORK_FD, OWN_FD, spawnWithRights } from "./namespaces.ts";
import type { HeldNamespaces } from "./namespaces.ts";
import { DEVICE, MTU, NETWORK } from "./network-plan.ts";
import type { NetworkPlan } from "./network-plan.ts";
import type { EgressTools } from "./egress-tools.ts";

const SETUP_TIMEOUT_MS = 10 * SECOND;
const READY_FD = OWN_FD;
/** Standard input: held open until the end, which slirp4netns notices. */
const EXIT_FD = 0;
/** To enter the namespace, and create the device in it. */
const CAPABILITIES = ["SYS_ADMIN", "NET_ADMIN"] as const;
/** More, for `--enable-sandbox`, which as root drops all of them but the last. */
const DROPPED_LATER = ["SETPCAP", "SETUID", "SETGID", "SYS_CHROOT", "NET_BIND_SERVICE"] as const;

/**
 * Starts a slirp4netns: it reads packets that user code wrote, so it does that in a sandbox of its own, with nothing of the host's files but
 * the address of its resolver. As root it drops its capabilities once it has opened the device. An ordinary user's keeps those over the
 * network of the version (it could drop them as user 0 of a namespace only), but its own filter refuses the calls that they are for.
 */
export function startSlirp(
  { slirp, owner, ...tools }: EgressTools,
  namespaces: HeldNamespaces,
  { resolves }: NetworkPlan,
): ChildProcess {
  const command = [
    [slirp.path, "--disable-host-loopback", "--enable-seccomp"],
    owner === "root" ? ["--enable-sandbox"] : [],
    [`--cidr=${NETWORK.range}`, `--mtu=${MTU}`, ...(resolves ? [] : ["--disable-dns"])],
    [`--ready-fd=${READY_FD}`, `--exit-fd=${EXIT_FD}`],
    ["--netns-type=path", `/proc/self/fd/${NETWORK_FD}`, DEVICE],
  ].flat();
  return spawnWithRights(tools, namespaces, command, {
    capabilities: owner === "root" ? [...CAPABILITIES, ...DROPPED_LATER] : CAPABILITIES,
    shows: [
      ["--dev-bind", "/dev/net/tun", "/dev/net/tun", "--tmpfs", "/tmp", "--dir", "/run"],
      ["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"],
    ].flat(),
  });
}

/** Resolves when the device exists. */
export function waitUntilReady(slirp: ChildProcess): Promise<void> {
  let said = "";
  slirp.stderr?.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-1000)));
  slirp.stdin?.on("error", () => undefined);
  return new Promise((resolve, reject) => {
    const fail = (how: string): void =>
      reject(new Error(`slirp4netns ${how}: ${said.trim() || "no message"}`));
    const timer = setTimeout(
      () => fail(`was not ready within ${SETUP_TIMEOUT_MS / SECOND} s`),
      SETUP_TIMEOUT_MS,
    );
    slirp.once("error", (error) => {
      clearTimeout(timer);
      fail(`could not be started (${error.message})`);
    });
    slirp.once("close", () => {
      clearTimeout(timer);
      fail("ended");
    });
    slirp.stdio[READY_FD]?.once("data", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
