import { existsSync } from "node:fs";
import type { TrustedExecutable } from "../host/trusted-executable.ts";
import type { BuildCommand, HostCommand } from "./build-command.ts";

/** The folders that one build may read and write. All paths are absolute. */
export interface BuildSandboxOptions {
  readonly bubblewrap: TrustedExecutable;
  /** Folders whose content is hidden from a build: the platform's data. */
  readonly hidden: readonly string[];
  /** Paths that are visible although they lie in a hidden folder or in the system's temporary folder. */
  readonly readable: readonly string[];
  /** The only folders that can be written. */
  readonly writable: readonly string[];
}

const TEMPORARY = "/tmp";

/**
 * Installing a package runs code of its author. The sandbox shows it the host read-only (as far as its uid may read), hides the
 * platform's data and the temporary files of other users, and gives it its own process namespace: processes that it leaves running end with
 * it, so that nothing can write into an environment after the build. The network is available, since packages are downloaded.
 *
 * Must be run as the build's user already, never as root: bubblewrap would map the inner uid to root.
 */
export function createBuildSandbox(options: BuildSandboxOptions): (command: BuildCommand) => HostCommand {
  const hidden = [TEMPORARY, ...options.hidden].filter((path) => existsSync(path));
  const shownAgain = options.readable.filter((path) =>
    hidden.some((folder) => path.startsWith(`${folder}/`)),
  );
  const args = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    // The kernel ends all processes of a pid namespace before the end of its first process can be observed. bubblewrap's own first process only
    // has a parent-death signal, which a process beside it can revoke (ptrace).
    "--as-pid-1",
    "--die-with-parent",
    "--new-session",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    ...hidden.flatMap((path) => ["--tmpfs", path]),
    ...shownAgain.flatMap((path) => ["--ro-bind-try", path, path]),
    ...options.writable.flatMap((path) => ["--bind", path, path]),
  ];
  return (command) => ({
    executable: options.bubblewrap,
    args: [...args, "--", command.executable, ...command.args],
  });
}
