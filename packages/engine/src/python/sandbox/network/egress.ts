import { closeSync, existsSync, openSync, readlinkSync } from "node:fs";
import { SECOND } from "../../../base/time.ts";
import { killLaunched } from "../../../host/kill-launched.ts";
import { runTrusted, spawnTrusted } from "../../../host/processes.ts";
import type { ChildProcess } from "../../../host/processes.ts";
import type { TrustedExecutable } from "../../../host/trusted-executable.ts";
import { DEVICE, listCommands, MTU, NETWORK } from "./network-plan.ts";
import type { NetworkPlan } from "./network-plan.ts";

const SETUP_TIMEOUT_MS = 10 * SECOND;
/** Time between the end of a slirp4netns and the start of the next one. */
const RESTART_MS = 1 * SECOND;
const NAMESPACE_FD = 3;
const READY_FD = 4;
/** Standard input: held open until the end, which slirp4netns notices. */
const EXIT_FD = 0;

/** The programs that give a sandbox a way out. */
export interface EgressTools {
  readonly bubblewrap: TrustedExecutable;
  readonly ip: TrustedExecutable;
  readonly nsenter: TrustedExecutable;
  readonly slirp: TrustedExecutable;
  readonly unshare: TrustedExecutable;
}

/** The way out of one network namespace. */
export interface Egress {
  /** Ends it, at once. */
  readonly close: () => void;
}

/**
 * The arguments with which unshare(1) starts a program in a network namespace of its own, as this user. This process must be root; no
 * device of the new namespace is up, also not the loopback device.
 */
export function enterNetwork(uid: number, gid: number, command: readonly string[]): readonly string[] {
  return ["--net", `--setgid=${gid}`, `--setuid=${uid}`, "--", ...command];
}

/**
 * Connects the network namespace of a process to the outside, as far as the plan allows; resolves when it is. From then on a
 * slirp4netns that ends (user code sends it packets of any kind) is replaced after a second.
 *
 * @throws Error when the namespace cannot be connected
 */
export async function openEgress(tools: EgressTools, pid: number, plan: NetworkPlan): Promise<Egress> {
  const namespace = openSync(`/proc/${pid}/ns/net`, "r");
  let slirp: ChildProcess | null = null;
  let timer: NodeJS.Timeout | undefined;
  let state: "opening" | "open" | "closed" = "opening";
  let connecting: Promise<void> = Promise.resolve();

  function close(): void {
    if (state === "closed") return;
    state = "closed";
    clearTimeout(timer);
    if (slirp !== null) killLaunched(slirp);
    // Not while a program enters the namespace by this number, which may be that of another namespace a moment later.
    void connecting.catch(() => undefined).then(() => closeSync(namespace));
  }

  async function connect(): Promise<void> {
    slirp = startSlirp(tools, namespace, plan);
    slirp.once("exit", reconnectLater);
    await waitUntilReady(slirp);
    await configure(tools, namespace, plan);
  }

  function reconnectLater(): void {
    if (state !== "open") return;
    clearTimeout(timer);
    timer = setTimeout(reconnect, RESTART_MS).unref();
  }

  function reconnect(): void {
    connecting = connect();
    connecting.catch(() => {
      if (slirp !== null) killLaunched(slirp);
      reconnectLater(); // one that could not be started has no exit
    });
  }

  try {
    refuseOwnNamespace(namespace);
    await (connecting = connect());
    state = "open";
    return { close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Routes that are written there would cut this machine off. */
function refuseOwnNamespace(namespace: number): void {
  if (readlinkSync(`/proc/self/fd/${namespace}`) === readlinkSync("/proc/self/ns/net"))
    throw new Error("the process has no network namespace of its own");
}

/**
 * It reads packets that user code wrote, as root: so in a sandbox of its own, with nothing of the host's files but the address of
 * its resolver, and it drops its capabilities once it has opened the device. It ends with this process: bubblewrap is killed with its parent.
 */
function startSlirp(tools: EgressTools, namespace: number, { resolves }: NetworkPlan): ChildProcess {
  const capabilities = [
    "SYS_ADMIN",
    "NET_ADMIN",
    "SETPCAP",
    "SETUID",
    "SETGID",
    "SYS_CHROOT",
    "NET_BIND_SERVICE",
  ];
  const sandbox = [
    ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session"],
    ["--cap-drop", "ALL", ...capabilities.flatMap((name) => ["--cap-add", `CAP_${name}`])],
    ["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/lib", "/lib", "--ro-bind-try", "/lib64", "/lib64"],
    ["--proc", "/proc", "--dev-bind", "/dev/net/tun", "/dev/net/tun", "--tmpfs", "/tmp", "--dir", "/run"],
    ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
    ["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"],
  ].flat();
  const slirp = [
    [tools.slirp.path, "--disable-host-loopback", "--enable-sandbox", "--enable-seccomp"],
    [`--cidr=${NETWORK.range}`, `--mtu=${MTU}`, ...(resolves ? [] : ["--disable-dns"])],
    [`--ready-fd=${READY_FD}`, `--exit-fd=${EXIT_FD}`],
    ["--netns-type=path", `/proc/self/fd/${NAMESPACE_FD}`, DEVICE],
  ].flat();
  return spawnTrusted(tools.bubblewrap, [...sandbox, "--", ...slirp], {
    env: {},
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "pipe", namespace, "pipe"],
  });
}

/** Resolves when the device exists. */
function waitUntilReady(slirp: ChildProcess): Promise<void> {
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

/** By a descriptor of this process: a process id may belong to another process by now. */
async function configure(tools: EgressTools, namespace: number, plan: NetworkPlan): Promise<void> {
  const commands = listCommands(plan, existsSync("/proc/net/if_inet6"));
  const enter = [`--net=/proc/${process.pid}/fd/${namespace}`, "--", tools.ip.path, "-batch", "-"];
  const input = commands.map((command) => `${command}\n`).join("");
  await runTrusted(tools.nsenter, enter, { env: {}, timeout: SETUP_TIMEOUT_MS, input });
}
