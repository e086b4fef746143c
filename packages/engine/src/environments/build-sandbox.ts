import { bindAccounts, isBelow, listSystem } from "../python/sandbox/system-view.ts";
import type { Interpreter } from "./interpreter.ts";
import type { TrustedExecutable } from "../host/trusted-executable.ts";
import { createClosedFilter } from "../python/sandbox/seccomp/filters.ts";
import type { Epoll } from "../python/sandbox/seccomp/filters.ts";
import { findArchitecture } from "../python/sandbox/seccomp/syscalls.ts";
import { FILTER_FD } from "./build-command.ts";
import type { BuildCommand, HostCommand } from "./build-command.ts";
import { limitCommand } from "./build-limits.ts";
import type { BuildLimits } from "./build-limits.ts";

/** What one program of a build may see, write and use. All paths are absolute, and are the same inside. */
export interface BuildSandboxOptions {
  readonly bubblewrap: TrustedExecutable;
  /** Executes the limits; its installation is visible. */
  readonly interpreter: Interpreter;
  /** Folder that `writeAccounts` wrote to. */
  readonly accounts: string;
  /** Paths that are visible besides the system; missing ones are left out. */
  readonly readable: readonly string[];
  /** The only folders that can be written, besides a small /tmp. They must exist. */
  readonly writable: readonly string[];
  /** Whether the program has the host's network; without it, it has a loopback interface of its own. */
  readonly network: boolean;
  /** Refused to code of packages that runs as the user of this process. */
  readonly epoll: Epoll;
  readonly limits: BuildLimits;
}

/** In memory; a build has its temporary files in its own folder. */
const TMP_BYTES = 64 * 1024 ** 2;
const SHARED_MEMORY_BYTES = 256 * 1024 ** 2;

/**
 * Installing a package may run code of its author. The sandbox shows it the system, the interpreter's installation and the paths named here,
 * and nothing else of the host: no home, no data, no other build, no accounts. It has namespaces of its own for users, processes, IPC, host
 * name and, unless `network` is set, the network. Processes that it leaves running end with it, so that nothing can write into an environment
 * after the build. No namespace can be made inside, and system calls that builds do not need are refused.
 *
 * Must be run as the build's user already, never as root: bubblewrap would map the inner uid to root.
 */
export function createBuildSandbox(options: BuildSandboxOptions): (command: BuildCommand) => HostCommand {
  const { bubblewrap, interpreter, network, limits } = options;
  const namespaces = [
    "--unshare-user",
    "--disable-userns",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
  ];
  const privileges = ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "build"];
  const architecture = findArchitecture(process.arch);
  const filter = architecture === null ? null : createClosedFilter(architecture, options.epoll);
  const own = [
    ["--proc", "/proc", "--dev", "/dev"],
    ["--size", String(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"],
    ["--size", String(TMP_BYTES), "--tmpfs", "/tmp"],
  ].flat();
  const args = [
    ...namespaces,
    ...(network ? [] : ["--unshare-net"]),
    ...privileges,
    // The kernel ends all processes of a pid namespace before the end of its first process can be observed. bubblewrap's own first process only
    // has a parent-death signal, which a process beside it can revoke (ptrace).
    "--as-pid-1",
    ...listSystem({ network }),
    ...bindAccounts(options.accounts),
    ...own,
    ...listMounts(options),
    "--remount-ro",
    "/dev",
    "--remount-ro",
    "/",
    ...(filter === null ? [] : ["--seccomp", String(FILTER_FD)]),
  ];
  return (command) => {
    const { executable, args: inner } = limitCommand(interpreter, limits, command);
    return { executable: bubblewrap, args: [...args, "--", executable, ...inner], filter };
  };
}

/** A folder stands before what lies in it, which would be covered otherwise. */
function listMounts({ interpreter, readable, writable }: BuildSandboxOptions): readonly string[] {
  const shown = [...interpreter.readablePaths, ...readable].filter((path) => !isBelow(path, "/usr"));
  const mounts = [
    ...shown.map((path) => ({ path, args: ["--ro-bind-try", path, path] })),
    ...writable.map((path) => ({ path, args: ["--bind", path, path] })),
  ];
  return [...mounts].sort((a, b) => a.path.length - b.path.length).flatMap(({ args }) => args);
}
