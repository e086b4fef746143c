import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GIGABYTE } from "../../base/bytes.ts";
import { killLaunched } from "../../host/kill-launched.ts";
import type { TrustedExecutable } from "../../host/trusted-executable.ts";
import { prepareNetwork } from "./network/version-network.ts";
import type { ConnectedNetwork, Networks } from "./network/version-network.ts";
import { createBaseFilter, createChildFilter } from "./seccomp/filters.ts";
import type { Architecture } from "./seccomp/syscalls.ts";
import { BASE_ENVIRONMENT, FIRST_DESCRIPTOR, STATUS_FD } from "./sandbox.ts";
import type { SandboxLaunch, SandboxRequest } from "./sandbox.ts";
import { bind, bindAccounts, isBelow, listSystem, writeAccounts } from "./system-view.ts";
import type { UserBounds } from "./user-bounds.ts";
import type { SandboxUser, TakeUser } from "./users.ts";

/** Inside, the project and the runner are at fixed paths, so that tracebacks do not disclose paths of the host. */
const PROJECT = "/app";
const RUNNER = "/run/platform/runner";
const ZYGOTE = "/run/platform/zygote";

/** What is known of bubblewrap on this machine; found by `findSandbox`. */
export interface BubblewrapOptions {
  /** `bwrap` itself. */
  readonly executable: TrustedExecutable;
  /** Whose system calls are filtered. */
  readonly architecture: Architecture;
  /** Root must never start bwrap as itself: with a user namespace the inner uid would be the host's root. */
  readonly takeUser: TakeUser;
  /** Null: the code of versions is trusted, or this machine cannot bound what they have. */
  readonly bounds: UserBounds | null;
  readonly networks: Networks;
}

/** Levels A and B: namespaces for user, pid, ipc, uts and network, a read-only system, a uid per version. */
export async function prepareBubblewrap(
  options: BubblewrapOptions,
  request: SandboxRequest,
): Promise<SandboxLaunch> {
  const user = options.takeUser();
  try {
    return { ...(await prepareLaunch(options, request, user)), release: user.release };
  } catch (error) {
    user.release();
    throw error;
  }
}

async function prepareLaunch(
  options: BubblewrapOptions,
  request: SandboxRequest,
  user: SandboxUser,
): Promise<Omit<SandboxLaunch, "release">> {
  const { uid, gid } = user;
  writeAccounts(request.zygoteDirectory, uid, gid);
  user.own(request.zygoteDirectory);
  const { bubblewrapArguments, children, own } = await prepareNetwork(options.networks, {
    network: request.network,
    folder: join(request.zygoteDirectory, "etc"),
    onNotice: request.onNotice,
  });
  const isolation = listArguments(request, bubblewrapArguments);
  let egress: ConnectedNetwork | null = null;
  const { architecture, executable } = options;
  const bounds = user.isOwn && request.isGrouped ? null : options.bounds;
  const enter =
    own && ((inside: readonly string[]) => ({ executable: own.launcher, args: own.enter(user, inside) }));
  return {
    view: {
      project: PROJECT,
      runner: RUNNER,
      zygote: ZYGOTE,
      scratch: "/tmp",
      hasDoors: true,
      isolation: {
        namespaces: true,
        network: children,
        filter: createChildFilter(architecture, "hidden").toString("base64"),
        landlock: ["/"],
        opened: [],
      },
    },
    wrap: (command) => {
      const args = [...isolation, "--", ...command];
      const inside = [executable.path, ...args];
      if (bounds !== null) return bounds.bound(request.children, inside, enter);
      return enter === null ? { executable, args } : enter(inside);
    },
    environment: BASE_ENVIRONMENT,
    // bwrap(1): written only when the program inside was executed and has ended.
    hasBegun: (status) => status.includes('"exit-code"'),
    descriptors: [
      openFilter(
        createBaseFilter(architecture, { network: children, epoll: user.epoll }),
        request.zygoteDirectory,
      ),
    ],
    ...(user.isOwn && own === null ? { uid, gid } : {}),
    connect:
      own &&
      (async (pid) => {
        egress = await own.connect(pid);
      }),
    listHelpers: () => egress?.listProcesses() ?? [],
    kill: killLaunched,
    disconnect: () => egress?.close(),
  };
}

/** Bubblewrap applies these in the order given. */
function listArguments(request: SandboxRequest, network: readonly string[]): string[] {
  const { zygoteDirectory } = request;
  const readable = request.readablePaths.filter((path) => !isBelow(path, "/usr"));
  const namespaces = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"];
  const privileges = ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "service"];
  const system = [listSystem({ network: true }), bindAccounts(zygoteDirectory)];
  const size = ["--size", String(Math.round(request.resources.memory * GIGABYTE))];
  const own = [
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...size,
    "--tmpfs",
    "/dev/shm",
    ...size,
    "--tmpfs",
    "/tmp",
  ];
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

/**
 * An open descriptor from which a filter can be read once; a launcher such as bubblewrap takes it that way. Nothing of it is left
 * in the folder. The caller closes it.
 */
function openFilter(program: Buffer, folder: string): number {
  const path = join(folder, "filter");
  writeFileSync(path, program, { flag: "wx", mode: 0o600 });
  const descriptor = openSync(path, "r");
  try {
    rmSync(path);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
