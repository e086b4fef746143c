import { arch, platform } from "node:process";
import { fileURLToPath } from "node:url";
import type { MissingPiece } from "@platform/contract/sandbox";
import { createBubblewrapSandbox } from "./bubblewrap.ts";
import { findBubblewrap, tryBubblewrap } from "./bubblewrap-trial.ts";
import { findCgroups } from "./cgroups/find-cgroups.ts";
import { createConfinedSandbox } from "./confined.ts";
import { gradeSandbox, isNeeded } from "./grade.ts";
import type { EgressTools } from "./network/egress.ts";
import { findEgress, tryEgress } from "./network/find-egress.ts";
import { DEFAULT_NETWORK_POLICY } from "./network/network-policy.ts";
import type { NetworkPolicy } from "./network/network-policy.ts";
import type { Networks } from "./network/version-network.ts";
import { createNoSandbox } from "./no-sandbox.ts";
import { REMEDIES, SHARED_USER } from "./remedies.ts";
import type { Sandbox } from "./sandbox.ts";
import { createBaseFilter, findArchitecture } from "./seccomp/filters.ts";
import type { Architecture } from "./seccomp/filters.ts";
import { tryInPython, tryPieces } from "./trials.ts";
import type { PieceTrial, TrialTools } from "./trials.ts";
import { TrustedExecutable } from "../../host/trusted-executable.ts";
import { createSandboxUsers } from "./users.ts";
import type { SandboxUsers } from "./users.ts";

const DEFAULT_UID_BASE = 200_000;
const DEFAULT_UID_COUNT = 10_000;

/** What the sandbox is made with, and as whom versions run. */
export interface FindSandboxOptions {
  /** The base installation's interpreter: makes the trials, and launches versions at level C. */
  readonly interpreter: TrustedExecutable;
  /** Absolute paths that a sandbox must show besides the system's folders so that the interpreter runs. */
  readonly readablePaths?: readonly string[];
  /** Folder of the Python half; default: the one of these sources. */
  readonly runnerDirectory?: string;
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
  const { interpreter } = options;
  const { tools, users } = chooseUsers(options);
  const bubblewrap = await findBubblewrap(options);
  const architecture = findArchitecture(arch);
  const trials = listTrials(bubblewrap, architecture, users);
  const [faults, found, { cgroups, missing }] = await Promise.all([
    tryPieces(tools, trials),
    tryNetwork(bubblewrap, options),
    findCgroups(tools.user?.uid ?? null),
  ]);
  const egress = limitEgress(found, faults);
  const others = [missing, isMissing(egress) ? egress : null].filter((piece) => piece !== null);
  const report = gradeSandbox([...faults, ...others]);
  if (report.level === "D" || architecture === null) return createNoSandbox(report);
  const needed = trials.filter(({ piece }) => isNeeded(piece, report.level));
  const findFault: Sandbox["findFault"] = async () =>
    (await tryPieces(tools, needed))[0]?.why ?? (isMissing(egress) ? null : await tryEgress(egress));
  const networks = createNetworks(options, egress);
  const parts = { report, cgroups, architecture, users, networks, findFault };
  if (report.level !== "C" && bubblewrap instanceof TrustedExecutable)
    return createBubblewrapSandbox({ ...parts, executable: bubblewrap });
  return createConfinedSandbox({
    ...parts,
    report: tools.user === null ? { ...report, missing: [...report.missing, SHARED_USER] } : report,
    interpreter,
    siblings: await judgeSiblings(tools),
  });
}

function tryNetwork(
  bubblewrap: Awaited<ReturnType<typeof findBubblewrap>>,
  { searchPath = "" }: FindSandboxOptions,
): Promise<EgressTools | MissingPiece> | MissingPiece {
  if (bubblewrap instanceof TrustedExecutable) return findEgress(bubblewrap, searchPath);
  return { piece: "network", why: "It needs namespaces, and so bubblewrap.", remedy: bubblewrap.remedy };
}

/** Root can make network namespaces where bubblewrap cannot make any of its own; versions are then started without either (level C). */
function limitEgress(
  found: EgressTools | MissingPiece,
  faults: readonly MissingPiece[],
): EgressTools | MissingPiece {
  const fault = faults.find(({ piece }) => piece === "user namespaces");
  if (fault === undefined || isMissing(found)) return found;
  return { piece: "network", why: "It needs user namespaces.", remedy: fault.remedy };
}

/** As root, versions and trials run as users of their own. */
function chooseUsers(options: FindSandboxOptions): { tools: TrialTools; users: SandboxUsers } {
  const { interpreter, readablePaths = [], uidBase = DEFAULT_UID_BASE } = options;
  const uid = process.getuid?.() ?? 0;
  const tools: TrialTools = {
    interpreter,
    readablePaths,
    runnerDirectory: options.runnerDirectory ?? fileURLToPath(new URL("../../../runner", import.meta.url)),
    user: uid === 0 ? { uid: uidBase, gid: uidBase } : null,
  };
  const users = createSandboxUsers({
    uidBase,
    uidCount: options.uidCount ?? DEFAULT_UID_COUNT,
    uid,
    gid: process.getgid?.() ?? 0,
  });
  return { tools, users };
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

function listTrials(
  bubblewrap: Awaited<ReturnType<typeof findBubblewrap>>,
  architecture: Architecture | null,
  users: SandboxUsers,
): readonly PieceTrial[] {
  if (platform !== "linux")
    return refuseAll(`It is a part of Linux, and this is ${platform}.`, "Run workers on Linux.");
  if (architecture === null)
    return refuseAll(
      `There is no filter of system calls for this processor (${arch}).`,
      "Run workers on x86_64 or aarch64.",
    );
  const filter = createBaseFilter(architecture, "shared").toString("base64");
  return [
    {
      piece: "user namespaces",
      remedy: REMEDIES["user namespaces"],
      ...(bubblewrap instanceof TrustedExecutable
        ? {
            attempt: (tools, runner) =>
              tryBubblewrap({ executable: bubblewrap, architecture, users }, tools, runner),
          }
        : { attempt: async () => bubblewrap.why, remedy: bubblewrap.remedy }),
    },
    {
      piece: "seccomp",
      remedy: REMEDIES.seccomp,
      attempt: (tools, runner) => tryInPython(tools, runner, ["seccomp", filter]),
    },
    {
      piece: "Landlock",
      remedy: REMEDIES.Landlock,
      attempt: (tools, runner) => tryInPython(tools, runner, ["landlock"]),
    },
  ];
}

function refuseAll(why: string, remedy: string): readonly PieceTrial[] {
  return (["user namespaces", "seccomp", "Landlock"] as const).map((piece) => ({
    piece,
    remedy,
    attempt: async () => why,
  }));
}

/** From version 6 on, Landlock keeps signals inside an execution. */
async function judgeSiblings(tools: TrialTools): Promise<"unsignalled" | "exposed"> {
  const [old] = await tryPieces(tools, [
    {
      piece: "Landlock",
      remedy: "",
      attempt: (_, runner) => tryInPython(tools, runner, ["landlock-signals"]),
    },
  ]);
  return old === undefined ? "unsignalled" : "exposed";
}
