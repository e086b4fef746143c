import { chmodSync, chownSync } from "node:fs";
import type { SandboxReport } from "@platform/contract/sandbox";
import type { TrustedExecutable } from "../../host/trusted-executable.ts";
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
  /** Tries an empty sandbox; see `Sandbox`. */
  readonly findFault: Sandbox["findFault"];
}

/** Namespaces for user, pid, ipc and uts, a read-only system, a uid per version; the network is the host's. */
export function createBubblewrapSandbox(options: BubblewrapOptions): Sandbox {
  const taken = new Set<number>();

  function takeUid(): number {
    for (let uid = options.uidBase; uid < options.uidBase + options.uidCount; uid += 1) {
      if (taken.has(uid)) continue;
      taken.add(uid);
      return uid;
    }
    throw new Error(`all ${options.uidCount} uids from ${options.uidBase} on are in use`);
  }

  function prepare(request: SandboxRequest): SandboxLaunch {
    const dropped = options.uid === 0 ? takeUid() : null;
    const uid = dropped ?? options.uid;
    const gid = dropped ?? options.gid;
    writeAccounts(request.zygoteDirectory, uid, gid);
    chmodSync(request.zygoteDirectory, 0o700);
    if (dropped !== null) chownSync(request.zygoteDirectory, uid, gid);
    const isolation = listArguments(request);
    const { architecture } = options;
    const network = "shared";
    return {
      view: {
        project: PROJECT,
        runner: RUNNER,
        zygote: ZYGOTE,
        scratch: "/tmp",
        isolation: {
          namespaces: true,
          network,
          filter: createChildFilter(architecture, "hidden").toString("base64"),
          landlock: ["/"],
        },
      },
      wrap: (command) => ({ executable: options.executable, args: [...isolation, "--", ...command] }),
      environment: BASE_ENVIRONMENT,
      // bwrap(1): written only when the program inside was executed and has ended.
      hasBegun: (status) => status.includes('"exit-code"'),
      descriptors: [openFilter(createBaseFilter(architecture, network), request.zygoteDirectory)],
      ...(dropped === null ? {} : { uid: dropped, gid: dropped }),
      release: () => {
        if (dropped !== null) taken.delete(dropped);
      },
    };
  }

  return { report: options.report, prepare, findFault: options.findFault };
}

/** Bubblewrap applies these in the order given. */
function listArguments(request: SandboxRequest): string[] {
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
  return [namespaces, privileges, ...system, own, ...version, closing, report].flat();
}
