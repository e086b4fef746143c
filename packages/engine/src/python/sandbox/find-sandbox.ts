import type { MissingPiece } from "@platform/contract/sandbox";
import { findExecutables, isExecutable, SYSTEM_FOLDERS } from "../../host/find-executables.ts";
import { runTrusted } from "../../host/processes.ts";
import { TrustedExecutable } from "../../host/trusted-executable.ts";
import { createBubblewrapSandbox } from "./bubblewrap.ts";
import { gradeSandbox } from "./grade.ts";
import { findCgroups } from "./cgroups/find-cgroups.ts";
import type { EgressTools } from "./network/egress.ts";
import { findEgress, tryEgress } from "./network/find-egress.ts";
import { DEFAULT_NETWORK_POLICY } from "./network/network-policy.ts";
import type { NetworkPolicy } from "./network/network-policy.ts";
import type { Networks } from "./network/version-network.ts";
import { createNoSandbox } from "./no-sandbox.ts";
import { createBaseFilter, findArchitecture } from "./seccomp/filters.ts";
import type { Architecture } from "./seccomp/filters.ts";
import type { Sandbox } from "./sandbox.ts";

const TRIAL_TIMEOUT_MS = 10_000;
const DEFAULT_UID_BASE = 200_000;
const DEFAULT_UID_COUNT = 10_000;
const INSTALL_HINT = "Install the package `bubblewrap` (apt-get install bubblewrap, dnf install bubblewrap).";
const ALLOW_HINT =
  "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0 on newer Ubuntu; user.max_user_namespaces must not be 0); in a container, its seccomp profile must allow clone, unshare and mount, and /proc must not be masked (Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined).";
const NOT_YET = { why: "This release does not use it yet.", remedy: "Nothing needs to be done." };
/** Level A needs it: without, control groups alone do not make a machine one of level A. */
const UNTRIED: readonly MissingPiece[] = [
  {
    piece: "Landlock",
    why: "It is used where the kernel has it, but this release does not try it at the start.",
    remedy: "Nothing needs to be done.",
  },
];
const NO_ARCHITECTURE: MissingPiece = {
  piece: "seccomp",
  why: `There is no filter of system calls for this processor (${process.arch}).`,
  remedy: "Run workers on x86_64 or aarch64.",
};
/** Level C is not there yet. */
const UNUSED_ALONE: readonly MissingPiece[] = [
  { piece: "Landlock", ...NOT_YET },
  { piece: "control groups", ...NOT_YET },
];

/** Where to search for bubblewrap, and as whom versions run. */
export interface FindSandboxOptions {
  /** Absolute path of `bwrap`; searched when it is not given. */
  readonly bubblewrapPath?: string;
  /** The value of PATH: searched before the system's folders. */
  readonly searchPath?: string;
  /** First uid of the range that versions run as when this process is root; default: 10,000 uids from 200000 on. */
  readonly uidBase?: number;
  /** Maximum number of sandboxes at once; used only when this process is root. */
  readonly uidCount?: number;
  /** What versions may reach; default: the outside, and no private addresses. */
  readonly networkPolicy?: NetworkPolicy;
  /** What versions get that ask for a network where this machine cannot give them one; default `none`. `host`: all code is trusted. */
  readonly networkFallback?: "none" | "host";
}

/** The best sandbox that works on this machine, established by trying each of its pieces. */
export async function findSandbox(options: FindSandboxOptions): Promise<Sandbox> {
  const executable = await findExecutable(options);
  if (!(executable instanceof TrustedExecutable))
    return createNoSandbox(gradeSandbox([executable, ...UNUSED_ALONE]));
  const architecture = findArchitecture(process.arch);
  if (architecture === null) return createNoSandbox(gradeSandbox([NO_ARCHITECTURE, ...UNUSED_ALONE]));
  const uid = process.getuid?.() ?? 0;
  const uidBase = options.uidBase ?? DEFAULT_UID_BASE;
  const dropped = uid === 0 ? uidBase : null;
  const attempt = () => tryBubblewrap(executable, architecture, dropped);
  const [fault, egress, { cgroups, missing }] = await Promise.all([
    attempt(),
    findEgress(executable, options.searchPath ?? ""),
    findCgroups(dropped),
  ]);
  if (fault !== null)
    return createNoSandbox(gradeSandbox([lackNamespaces(fault, ALLOW_HINT), ...UNUSED_ALONE]));
  return createBubblewrapSandbox({
    report: gradeSandbox(listMissing(egress, missing)),
    cgroups,
    executable,
    architecture,
    uidBase,
    uidCount: options.uidCount ?? DEFAULT_UID_COUNT,
    uid,
    gid: process.getgid?.() ?? 0,
    networks: createNetworks(options, egress),
    findFault: async () => (await attempt()) ?? (isMissing(egress) ? null : await tryEgress(egress)),
  });
}

function listMissing(egress: EgressTools | MissingPiece, cgroups: MissingPiece | null): MissingPiece[] {
  const found = [...UNTRIED, isMissing(egress) ? egress : null, cgroups];
  return found.filter((piece) => piece !== null);
}

function createNetworks(
  { networkPolicy = DEFAULT_NETWORK_POLICY, networkFallback = "none" }: FindSandboxOptions,
  egress: EgressTools | MissingPiece,
): Networks {
  return { policy: networkPolicy, egress: isMissing(egress) ? null : egress, fallback: networkFallback };
}

function isMissing(found: EgressTools | MissingPiece): found is MissingPiece {
  return "piece" in found;
}

async function findExecutable(options: FindSandboxOptions): Promise<TrustedExecutable | MissingPiece> {
  const { bubblewrapPath, searchPath = "" } = options;
  if (process.platform !== "linux")
    return lackNamespaces(`bubblewrap runs on Linux only, this is ${process.platform}.`, "Use Linux.");
  if (bubblewrapPath !== undefined) {
    if (await isExecutable(bubblewrapPath))
      return TrustedExecutable.vouchFor(bubblewrapPath, "named by the operator");
    return lackNamespaces(`${bubblewrapPath} is not an executable file.`, INSTALL_HINT);
  }
  const searched = `${searchPath}:${SYSTEM_FOLDERS}`;
  const [found] = await findExecutables("bwrap", searched);
  return found ?? lackNamespaces(`bwrap was found in none of ${searched}.`, INSTALL_HINT);
}

function lackNamespaces(why: string, remedy: string): MissingPiece {
  return { piece: "user namespaces", why, remedy };
}

/** Starts an empty sandbox: why it does not work, as a sentence; null when it does. */
async function tryBubblewrap(
  executable: TrustedExecutable,
  architecture: Architecture,
  uid: number | null,
): Promise<string | null> {
  const namespaces = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--die-with-parent",
    "--new-session",
  ];
  const view = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"];
  const identity = uid === null ? {} : { uid, gid: uid };
  try {
    await runTrusted(executable, [...namespaces, ...view, "--seccomp", "0", "--", "/bin/true"], {
      ...identity,
      input: createBaseFilter(architecture, "shared"),
      env: {},
      timeout: TRIAL_TIMEOUT_MS,
    });
    return null;
  } catch (cause) {
    const said = cause instanceof Error ? cause.message.trim() : String(cause);
    return `bubblewrap does not work here (${said}).`;
  }
}
