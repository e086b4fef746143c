import { pid } from "node:process";
import { createClosedFilter } from "../python/sandbox/seccomp/filters.ts";
import type { Epoll } from "../python/sandbox/seccomp/filters.ts";
import { findArchitecture } from "../python/sandbox/seccomp/syscalls.ts";
import { DEVICES, listSystemPaths } from "../python/sandbox/system-view.ts";
import type { BuildCommand, HostCommand } from "./build-command.ts";
import type { Interpreter } from "./interpreter.ts";

/** What one program of a build may read and write. All paths are absolute. */
export interface BuildConfinementOptions {
  /** Runs the launcher; its installation can be read. */
  readonly interpreter: Interpreter;
  /** Folder of a copy of the Python half that the build's user can read. */
  readonly runner: string;
  /** Paths that can be read besides the system; missing ones are left out. */
  readonly readable: readonly string[];
  /** The only folders that can be written. */
  readonly writable: readonly string[];
  /** Refused to code of packages that runs as the user of this process. */
  readonly epoll: Epoll;
}

/** pip reads what the system is called, in files that are named differently on each, and fails where it may not. */
const SETTINGS = "/etc";

/**
 * Where user namespaces are refused (level C), builds run no code of packages, and still install what packages name: pip 24.2 writes a
 * script of the name `../../x` to that place. Landlock keeps the programs of a build to its folders, and their signals among themselves.
 */
export function createBuildConfinement({
  interpreter,
  runner,
  readable,
  writable,
  epoll,
}: BuildConfinementOptions): (command: BuildCommand) => HostCommand {
  const architecture = findArchitecture(process.arch);
  const order = {
    parent: pid,
    readable: [...listSystemPaths(), SETTINGS, "/proc", runner, ...interpreter.readablePaths, ...readable],
    used: DEVICES,
    owned: writable,
    filter: architecture === null ? null : createClosedFilter(architecture, epoll).toString("base64"),
  };
  return ({ executable, args }) => ({
    executable: interpreter.executable,
    args: ["-I", "-S", runner, "restrict", JSON.stringify({ ...order, command: [executable, ...args] })],
    filter: null,
  });
}
