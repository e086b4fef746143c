import { findExecutables, isExecutable, SYSTEM_FOLDERS } from "../../host/find-executables.ts";
import { runTrusted } from "../../host/processes.ts";
import { TrustedExecutable } from "../../host/trusted-executable.ts";
import { createBubblewrapSandbox } from "./bubblewrap.ts";
import { createNoSandbox } from "./no-sandbox.ts";
import { SandboxUnavailableError } from "./sandbox.ts";
import type { Sandbox, SandboxLevel } from "./sandbox.ts";

const TRIAL_TIMEOUT_MS = 10_000;
const DEFAULT_UID_BASE = 200_000;
const DEFAULT_UID_COUNT = 10_000;
const INSTALL_HINT = "install the package `bubblewrap` (apt-get install bubblewrap, dnf install bubblewrap)";
const ALLOW_HINT =
  "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0 on newer Ubuntu), and inside a container its seccomp profile must allow unshare and mount";

/** Which level of isolation is required, and where to search for bubblewrap. */
export interface FindSandboxOptions {
  /** The minimum level. `none` means trusted code only. */
  readonly minimum: SandboxLevel;
  /** Absolute path of `bwrap`; searched when it is not given. */
  readonly bubblewrapPath?: string;
  /** The value of PATH: searched before the system's folders. */
  readonly searchPath?: string;
  /** First uid of the range that versions run as when this process is root; default: 10,000 uids from 200000 on. */
  readonly uidBase?: number;
  /** Maximum number of sandboxes at once; used only when this process is root. */
  readonly uidCount?: number;
}

/** The best sandbox that works on this machine, established by a trial run. @throws SandboxUnavailableError when it is below the minimum */
export async function findSandbox(options: FindSandboxOptions): Promise<Sandbox> {
  try {
    return await findBubblewrap(options);
  } catch (error) {
    if (options.minimum === "none" && error instanceof SandboxUnavailableError) return createNoSandbox();
    throw error;
  }
}

async function findBubblewrap(options: FindSandboxOptions): Promise<Sandbox> {
  if (process.platform !== "linux")
    throw new SandboxUnavailableError(`bubblewrap runs on Linux only, this is ${process.platform}.`);
  const executable = await findExecutable(options);
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  const uidBase = options.uidBase ?? DEFAULT_UID_BASE;
  const attempt = () => tryBubblewrap(executable, uid === 0 ? uidBase : null);
  await attempt();
  return createBubblewrapSandbox({
    executable,
    uidBase,
    uidCount: options.uidCount ?? DEFAULT_UID_COUNT,
    uid,
    gid,
    findFault: () =>
      attempt().then(
        () => null,
        (error: unknown) => String(error),
      ),
  });
}

async function findExecutable(options: FindSandboxOptions): Promise<TrustedExecutable> {
  const { bubblewrapPath, searchPath = "" } = options;
  if (bubblewrapPath !== undefined) {
    if (await isExecutable(bubblewrapPath))
      return TrustedExecutable.vouchFor(bubblewrapPath, "named by the operator");
    throw new SandboxUnavailableError(`${bubblewrapPath} is not an executable file: ${INSTALL_HINT}.`);
  }
  const searched = `${searchPath}:${SYSTEM_FOLDERS}`;
  const [found] = await findExecutables("bwrap", searched);
  if (found !== undefined) return found;
  throw new SandboxUnavailableError(`bwrap was found in none of ${searched}: ${INSTALL_HINT}.`);
}

async function tryBubblewrap(executable: TrustedExecutable, uid: number | null): Promise<void> {
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
    await runTrusted(executable, [...namespaces, ...view, "--", "/bin/true"], {
      ...identity,
      env: {},
      timeout: TRIAL_TIMEOUT_MS,
    });
  } catch (cause) {
    const said = cause instanceof Error ? cause.message.trim() : String(cause);
    throw new SandboxUnavailableError(`bubblewrap does not work here (${said}): ${ALLOW_HINT}.`, { cause });
  }
}
