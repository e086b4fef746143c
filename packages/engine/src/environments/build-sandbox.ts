import { existsSync } from "node:fs";
import type { TrustedExecutable } from "../host/trusted-executable.ts";
import type { BuildCommand, HostCommand } from "./build-command.ts";

export interface BuildSandboxOptions {
  readonly bubblewrap: TrustedExecutable;
  /** Folders whose content a build must not see: the platform's data. */
  readonly hidden: readonly string[];
  /** What is shown again although it lies in a hidden folder or in the system's temporary one. */
  readonly readable: readonly string[];
  /** The only folders that can be written. */
  readonly writable: readonly string[];
}

const TEMPORARY = "/tmp";

/**
 * Installing a package runs code that its author wrote. This shows it the host read-only (as far as its uid may read at all), hides the
 * platform's data and other people's temporary files, and gives it a process namespace of its own: whatever it leaves running dies with
 * it, so that nothing can write into an environment after the build. The network stays: packages come from there.
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
    // The kernel ends a pid namespace whole before the end of its first process can be seen. bubblewrap's own first process is only asked to die
    // with its parent, and what runs beside it can take that back (ptrace).
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
