import { arch, platform } from "node:process";
import type { MissingPiece } from "@platform/contract/sandbox";
import { getMessage } from "../../base/thrown.ts";
import { prepareBubblewrap } from "./bubblewrap.ts";
import { findCgroups } from "./cgroups/find-cgroups.ts";
import { prepareConfined } from "./confined.ts";
import type { ConfinedSiblings } from "./confined.ts";
import { describeMissing, gradeSandbox, isNeeded } from "./grade.ts";
import type { EgressTools } from "./network/egress-tools.ts";
import { explainNetwork } from "./network/explain-network.ts";
import { findEgress, tryEgress } from "./network/find-egress.ts";
import { DEFAULT_NETWORK_POLICY } from "./network/network-policy.ts";
import type { NetworkPolicy } from "./network/network-policy.ts";
import type { Networks } from "./network/version-network.ts";
import { createNoSandbox } from "./no-sandbox.ts";
import { RUNNER_DIRECTORY } from "./runner-files.ts";
import type { Sandbox } from "./sandbox.ts";
import { createBaseFilter } from "./seccomp/filters.ts";
import { findArchitecture } from "./seccomp/syscalls.ts";
import type { Architecture } from "./seccomp/syscalls.ts";
import { findBubblewrap, tryBubblewrap, tryInPython, tryPieces } from "./trials.ts";
import type { PieceTrial, TrialTools } from "./trials.ts";
import { TRIAL_TIMES } from "../../host/try-twice.ts";
import type { TrialTimes } from "../../host/try-twice.ts";
import { TrustedExecutable } from "../../host/trusted-executable.ts";
import { describeSharedUser } from "./describe-shared-user.ts";
import { findProcessBounds, findUserBounds } from "./user-bounds.ts";
import type { UserBounds } from "./user-bounds.ts";
import { createSandboxUsers } from "./users.ts";
import type { TakeUser } from "./users.ts";

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
  /**
   * Whether all code is trusted (`platform serve`); default: no. Then a version that asks for a network gets the host's where this machine cannot
   * give it one of its own, and epoll where it runs as the user of this process.
   */
  readonly trustsCode?: boolean;
  /** Milliseconds between two looks at the addresses of listed hosts, for tests; default: a minute. */
  readonly networkLookMs?: number;
  /** How long the trial of a piece may take, for tests. */
  readonly trialTimes?: TrialTimes;
}

/** The best sandbox that works on this machine, established by trying each of its pieces. */
export async function findSandbox(options: FindSandboxOptions): Promise<Sandbox> {
  const { interpreter } = options;
  const { tools, takeUser } = chooseUsers(options);
  const bubblewrap = await findBubblewrap(options);
  const architecture = findArchitecture(arch);
  const bounds = await chooseBounds(bubblewrap, tools, options);
  const trials = listTrials({ bubblewrap, architecture, takeUser, bounds: readBounds(bounds) });
  const [faults, outside, { cgroups, missing }] = await Promise.all([
    tryPieces(tools, trials),
    tryNetwork(bubblewrap, options),
    findCgroups(tools.user?.uid ?? null, tools.times),
  ]);
  const egress = limitEgress(outside, faults);
  const others = [missing, isMissing(egress) ? egress : null].filter((piece) => piece !== null);
  const graded = gradeSandbox([...faults, ...others]);
  if (graded.level === "D" || architecture === null) return createNoSandbox(graded);
  const unbounded = typeof bounds === "string" ? bounds : null;
  const siblings = graded.level === "C" ? await judgeSiblings(tools) : "unsignalled";
  const shared = sharesUser(tools, options)
    ? [describeSharedUser(graded.level, { unbounded, siblings })]
    : [];
  const report = { ...graded, missing: [...graded.missing, ...shared] };
  const needed = trials.filter(({ piece }) => isNeeded(piece, report.level));
  const networks = createNetworks(options, egress);
  const parts = { architecture, takeUser, networks };
  const common: Omit<Sandbox, "report" | "prepare"> = {
    cgroups,
    // At level C a version of the same user could change the permissions of what it can name.
    mayLink: report.level !== "C" || tools.user !== null,
    explainNetwork: (asked) => explainNetwork(networks, asked),
    findFault: async (signal) => {
      try {
        const [fault] = await tryPieces(tools, needed, signal);
        if (fault !== undefined) return describeMissing(fault);
        return isMissing(egress) ? null : await tryEgress(egress, { signal });
      } catch (error) {
        return `The isolation could not be tried (${getMessage(error)}).`;
      }
    },
  };
  if (report.level !== "C" && bubblewrap instanceof TrustedExecutable) {
    const found = { ...parts, executable: bubblewrap, bounds: readBounds(bounds) };
    return { ...common, report, prepare: (request) => prepareBubblewrap(found, request) };
  }
  const confined = { ...parts, interpreter, siblings };
  return { ...common, report, prepare: (request) => prepareConfined(confined, request) };
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
  if (fault === undefined) return found;
  return { piece: "network", why: "It needs user namespaces.", remedy: fault.remedy };
}

/** As root, versions and trials run as users of their own. */
function chooseUsers(options: FindSandboxOptions): { tools: TrialTools; takeUser: TakeUser } {
  const { interpreter, readablePaths = [], uidBase = DEFAULT_UID_BASE, trustsCode = false } = options;
  const uid = process.getuid?.() ?? 0;
  const tools: TrialTools = {
    interpreter,
    readablePaths,
    runnerDirectory: options.runnerDirectory ?? RUNNER_DIRECTORY,
    user: uid === 0 ? { uid: uidBase, gid: uidBase } : null,
    times: options.trialTimes ?? TRIAL_TIMES,
  };
  const takeUser = createSandboxUsers({
    uidBase,
    uidCount: options.uidCount ?? DEFAULT_UID_COUNT,
    uid,
    gid: process.getgid?.() ?? 0,
    trustsCode,
  });
  return { tools, takeUser };
}

/** Whether code that is not trusted runs as the user of this process. */
function sharesUser({ user }: TrialTools, { trustsCode = false }: FindSandboxOptions): boolean {
  return user === null && !trustsCode;
}

/** Null: there is nothing to bound. A string: why what there is cannot be bounded. */
async function chooseBounds(
  bubblewrap: Awaited<ReturnType<typeof findBubblewrap>>,
  tools: TrialTools,
  options: FindSandboxOptions,
): Promise<UserBounds | string | null> {
  if (!(bubblewrap instanceof TrustedExecutable) || options.trustsCode === true) return null;
  if (!sharesUser(tools, options)) return findProcessBounds(options.searchPath);
  return findUserBounds(bubblewrap, { searchPath: options.searchPath, times: tools.times });
}

function readBounds(bounds: UserBounds | string | null): UserBounds | null {
  return typeof bounds === "string" ? null : bounds;
}

function createNetworks(
  { networkPolicy = DEFAULT_NETWORK_POLICY, trustsCode = false, networkLookMs }: FindSandboxOptions,
  egress: EgressTools | MissingPiece,
): Networks {
  return {
    policy: networkPolicy,
    egress: isMissing(egress) ? null : egress,
    fallback: trustsCode ? "host" : "none",
    lookMs: networkLookMs,
  };
}

function isMissing(found: EgressTools | MissingPiece): found is MissingPiece {
  return "piece" in found;
}

/** The remedies are those of `docs/guide/isolation.md`, in short. */
function listTrials({
  bubblewrap,
  architecture,
  takeUser,
  bounds,
}: {
  readonly bubblewrap: Awaited<ReturnType<typeof findBubblewrap>>;
  readonly architecture: Architecture | null;
  readonly takeUser: TakeUser;
  readonly bounds: UserBounds | null;
}): readonly PieceTrial[] {
  if (platform !== "linux")
    return refuseAll(`It is a part of Linux, and this is ${platform}.`, "Run workers on Linux.");
  if (architecture === null)
    return refuseAll(
      `There is no filter of system calls for this processor (${arch}).`,
      "Run workers on x86_64 or aarch64.",
    );
  const filter = createBaseFilter(architecture, { network: "shared", epoll: "allowed" }).toString("base64");
  return [
    {
      piece: "user namespaces",
      remedy:
        "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0 on newer Ubuntu; user.max_user_namespaces must not be 0); in a container, its seccomp profile must allow clone, unshare and mount, and /proc must not be masked (Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined; Kubernetes: a seccomp profile of type Unconfined and procMount: Unmasked).",
      ...(bubblewrap instanceof TrustedExecutable
        ? {
            attempt: (tools, attempt) =>
              tryBubblewrap({ executable: bubblewrap, architecture, takeUser, bounds }, tools, attempt),
          }
        : { attempt: async () => bubblewrap.why, remedy: bubblewrap.remedy }),
    },
    {
      piece: "seccomp",
      remedy:
        "Use a kernel with CONFIG_SECCOMP_FILTER on x86_64 or aarch64; in a container, its seccomp profile must allow prctl and seccomp.",
      attempt: (tools, attempt) => tryInPython(tools, attempt, ["seccomp", filter]),
    },
    {
      piece: "Landlock",
      remedy:
        "Use Linux 5.19 or newer with `landlock` in /sys/kernel/security/lsm (kernel parameter lsm=landlock,...); in a container, its seccomp profile must allow the three calls landlock_* (Docker 20.10.11 or newer does).",
      attempt: (tools, attempt) => tryInPython(tools, attempt, ["landlock"]),
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
async function judgeSiblings(tools: TrialTools): Promise<ConfinedSiblings> {
  const [old] = await tryPieces(tools, [
    {
      piece: "Landlock",
      remedy: "",
      attempt: (_, attempt) => tryInPython(tools, attempt, ["landlock-signals"]),
    },
  ]);
  return old === undefined ? "unsignalled" : "exposed";
}
