import { closeSync, openSync, readlinkSync } from "node:fs";
import { MEGABYTE } from "../../../base/bytes.ts";
import { spawnTrusted } from "../../../host/processes.ts";
import type { ChildProcess } from "../../../host/processes.ts";
import type { TrustedExecutable } from "../../../host/trusted-executable.ts";

/**
 * Who makes the network namespaces of versions. Root: they belong to the host. An ordinary user: each is made together with a user namespace
 * that owns it, in which the user keeps its number: as user 0, bubblewrap would keep the capabilities that come with it. The processes of the
 * version are in user namespaces below, so that they have no capability over the network, whatever they have in their own.
 */
export type NamespaceOwner = "root" | "user";

/** The numbers that programs get which work in the namespaces. */
export const NETWORK_FD = 3;
/** A pipe of their own. */
export const OWN_FD = 4;
const USER_FD = 5;
/** More than a version needs; each that has a connection is one. */
const MAX_DESCRIPTORS = 512;

/** The namespaces of one version: they exist as long as these descriptors. */
export interface HeldNamespaces {
  readonly network: number;
  /** Null: the network belongs to the host. */
  readonly user: number | null;
  readonly close: () => void;
}

/**
 * The arguments with which unshare(1) starts a program in a network namespace of its own, as this user. No device of the new namespace is up,
 * also not the loopback device.
 */
export function enterNetwork(
  owner: NamespaceOwner,
  { uid, gid }: { readonly uid: number; readonly gid: number },
  command: readonly string[],
): readonly string[] {
  const user = owner === "root" ? [`--setgid=${gid}`, `--setuid=${uid}`] : ["--user", "--map-current-user"];
  return ["--net", ...user, "--", ...command];
}

/** Holds the namespaces of a process that was started in them. @throws Error when it has none of its own, or has ended */
export function holdNamespaces(owner: NamespaceOwner, pid: number): HeldNamespaces {
  const network = holdOwn(pid, "net");
  try {
    const user = owner === "root" ? null : holdOwn(pid, "user");
    return {
      network,
      user,
      close: () => [network, user].forEach((descriptor) => descriptor !== null && closeSync(descriptor)),
    };
  } catch (error) {
    closeSync(network);
    throw error;
  }
}

/** Routes that are written to the host's would cut this machine off. */
function holdOwn(pid: number, kind: "net" | "user"): number {
  const descriptor = openSync(`/proc/${pid}/ns/${kind}`, "r");
  if (readlinkSync(`/proc/self/fd/${descriptor}`) !== readlinkSync(`/proc/self/ns/${kind}`))
    return descriptor;
  closeSync(descriptor);
  throw new Error(`the process has no ${kind} namespace of its own`);
}

/**
 * User code makes slirp4netns open sockets and keep bytes for them, in the host's name: 0.4 MB for each connection whose other end does not
 * read. Beyond the number, connections fail; beyond the memory, it ends, and is replaced. Both concern one version.
 */
const LIMITS = [`--nofile=${MAX_DESCRIPTORS}`, `--as=${256 * MEGABYTE}`, "--core=0"];

/** The programs that start others with rights. */
export interface LaunchTools {
  readonly bubblewrap: TrustedExecutable;
  readonly prlimit: TrustedExecutable;
}

/** What a program that works in namespaces sees, and may do. */
export interface InsideOptions {
  readonly capabilities: readonly string[];
  /** More arguments of bubblewrap. */
  readonly shows: readonly string[];
}

/**
 * Starts a program of the host with capabilities over the namespaces of a version: in the host's network, with those as `NETWORK_FD`, and with
 * nothing of the host's files but programs and libraries. It ends with this process: bubblewrap is killed with its parent.
 */
export function spawnWithRights(
  { bubblewrap, prlimit }: LaunchTools,
  { network, user }: HeldNamespaces,
  command: readonly string[],
  { capabilities, shows }: InsideOptions,
): ChildProcess {
  const sandbox = [
    user === null ? [] : ["--userns", String(USER_FD)],
    ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session"],
    ["--cap-drop", "ALL", ...capabilities.flatMap((name) => ["--cap-add", `CAP_${name}`])],
    ["/usr", "/bin", "/sbin", "/lib", "/lib64"].flatMap((path) => ["--ro-bind-try", path, path]),
    ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", "--proc", "/proc", ...shows],
  ].flat();
  return spawnTrusted(prlimit, [...LIMITS, "--", bubblewrap.path, ...sandbox, "--", ...command], {
    env: {},
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "pipe", network, "pipe", user ?? "ignore"],
  });
}
