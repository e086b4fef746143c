import { chmodSync, chownSync } from "node:fs";
import { join } from "node:path";
import type { SandboxReport } from "@platform/contract/sandbox";
import type { TrustedExecutable } from "../../host/trusted-executable.ts";
import type { Egress } from "./network/egress.ts";
import { prepareNetwork } from "./network/version-network.ts";
import type { Networks } from "./network/version-network.ts";
import { createBaseFilter, createChildFilter } from "./seccomp/filters.ts";
import type { Architecture } from "./seccomp/filters.ts";
import { openFilter } from "./seccomp/open-filter.ts";
import { BASE_ENVIRONMENT, FIRST_DESCRIPTOR, STATUS_FD } from "./sandbox.ts";
import type { Sandbox, SandboxLaunch, SandboxRequest } from "./sandbox.ts";
import { bind, bindAccounts, isBelow, listSystem, writeAccounts } from "./system-view.ts";

/** Inside, the project and the runner are at fixed paths, so that tracebacks do not disclose paths of the host. */
const PROJECT = "/app";
const RUNNER = "/run/platform/runner";
const ZYGOTE = "/run/platform/zygote";

/** What is known of bubblewrap on this machine; found by `findSandbox`. */
export interface BubblewrapOptions {
  readonly report: SandboxReport;
  readonly cgroups: Sandbox["cgroups"];
  /** `bwrap` itself. */
  readonly executable: TrustedExecutable;
  /** Whose system calls are filtered. */
  readonly architecture: Architecture;
  /**
   * First host uid (and gid) of the range that versions run as, used only when this process is root.
   * Root must never start bwrap as itself: with a user namespace the inner uid would be the host's root.
   */
  readonly uidBase: number;
  /** Maximum number of sandboxes at once. */
  readonly uidCount: number;
  /** This process' own uid and gid. */
  readonly uid: number;
  readonly gid: number;
  readonly networks: Networks;
  /** Tries an empty sandbox; see `Sandbox`. */
  readonly findFault: Sandbox["findFault"];
}

/** Namespaces for user, pid, ipc, uts and network, a read-only system, a uid per version. */
export function createBubblewrapSandbox(options: BubblewrapOptions): Sandbox {
  const uids = createUids(options);

  async function prepare(request: SandboxRequest): Promise<SandboxLaunch> {
    const dropped = options.uid === 0 ? uids.take() : null;
    try {
      const launch = await prepareLaunch(options, request, dropped);
      const release = (): void => {
        launch.release();
        if (dropped !== null) uids.giveBack(dropped);
      };
      return { ...launch, release };
    } catch (error) {
      if (dropped !== null) uids.giveBack(dropped);
      throw error;
    }
  }

  return { report: options.report, cgroups: options.cgroups, prepare, findFault: options.findFault };
}

/** @param dropped the uid to run as; null: that of this process, which is not root */
async function prepareLaunch(
  options: BubblewrapOptions,
  request: SandboxRequest,
  dropped: number | null,
): Promise<SandboxLaunch> {
  const uid = dropped ?? options.uid;
  const gid = dropped ?? options.gid;
  writeAccounts(request.zygoteDirectory, uid, gid);
  chmodSync(request.zygoteDirectory, 0o700);
  if (dropped !== null) chownSync(request.zygoteDirectory, uid, gid);
  const { bubblewrapArguments, children, own } = await prepareNetwork(
    options.networks,
    request.network,
    join(request.zygoteDirectory, "etc"),
  );
  const isolation = listArguments(request, bubblewrapArguments);
  let egress: Egress | null = null;
  const { architecture } = options;
  return {
    view: {
      project: PROJECT,
      runner: RUNNER,
      zygote: ZYGOTE,
      scratch: "/tmp",
      isolation: {
        namespaces: true,
        network: children,
        filter: createChildFilter(architecture, "hidden").toString("base64"),
        landlock: ["/"],
      },
    },
    wrap: (command) => {
      const args = [...isolation, "--", ...command];
      if (own === null) return { executable: options.executable, args };
      return { executable: own.launcher, args: own.enter(uid, gid, [options.executable.path, ...args]) };
    },
    environment: BASE_ENVIRONMENT,
    // bwrap(1): written only when the program inside was executed and has ended.
    hasBegun: (status) => status.includes('"exit-code"'),
    descriptors: [openFilter(createBaseFilter(architecture, children), request.zygoteDirectory)],
    ...(dropped === null || own !== null ? {} : { uid: dropped, gid: dropped }),
    connect:
      own &&
      (async (pid) => {
        egress = await own.connect(pid);
      }),
    release: () => egress?.close(),
  };
}

/** The uids that versions run as when this process is root. */
function createUids({ uidBase, uidCount }: Pick<BubblewrapOptions, "uidBase" | "uidCount">) {
  const taken = new Set<number>();
  return {
    take: (): number => {
      for (let uid = uidBase; uid < uidBase + uidCount; uid += 1) {
        if (taken.has(uid)) continue;
        taken.add(uid);
        return uid;
      }
      throw new Error(`all ${uidCount} uids from ${uidBase} on are in use`);
    },
    giveBack: (uid: number): void => void taken.delete(uid),
  };
}

/** Bubblewrap applies these in the order given. */
function listArguments(request: SandboxRequest, network: readonly string[]): string[] {
  const { zygoteDirectory } = request;
  const readable = request.readablePaths.filter((path) => !isBelow(path, "/usr"));
  const namespaces = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"];
  const privileges = ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "service"];
  const system = [listSystem({ network: true }), bindAccounts(zygoteDirectory)];
  const own = ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm", "--tmpfs", "/tmp"];
  const version = [
    ...readable.map((path) => bind(path)),
    bind(request.projectDirectory, PROJECT),
    bind(request.runnerDirectory, RUNNER),
    bind(zygoteDirectory, ZYGOTE),
  ];
  const closing = ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", PROJECT];
  const report = ["--json-status-fd", String(STATUS_FD), "--seccomp", String(FIRST_DESCRIPTOR)];
  return [namespaces, privileges, ...system, network, own, ...version, closing, report].flat();
}
