import { mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { pid } from "node:process";
import type { TrustedExecutable } from "../../host/trusted-executable.ts";
import { decideNetwork } from "./network/network-policy.ts";
import type { Networks } from "./network/version-network.ts";
import { createChildFilter, createConfinedFilter } from "./seccomp/filters.ts";
import type { Siblings } from "./seccomp/filters.ts";
import type { Architecture } from "./seccomp/syscalls.ts";
import { BASE_ENVIRONMENT } from "./sandbox.ts";
import type { SandboxLaunch, SandboxRequest } from "./sandbox.ts";
import { DEVICES, listSystemPaths } from "./system-view.ts";
import type { SandboxUser, TakeUser } from "./users.ts";

/**
 * Processes and threads that one version may add to those of its user; `limit_processes` of the launcher allows up to twice as many. For all
 * executions of the version together: control groups, where there are any, give each its own 256.
 */
const PROCESS_STEP = 1024;
/** What the launcher reports when it has executed the interpreter: `BEGUN` in `confine.py`. */
const BEGUN = "begun";

/** There is no pid namespace. */
export type ConfinedSiblings = Exclude<Siblings, "hidden">;

/** What the sandbox of level C is made of; found by `findSandbox`. */
interface ConfinedOptions {
  /** The base installation's interpreter, which runs the launcher: never a version's own. */
  readonly interpreter: TrustedExecutable;
  readonly takeUser: TakeUser;
  readonly networks: Networks;
  /** Whose system calls are filtered. */
  readonly architecture: Architecture;
  /** Whether Landlock keeps the signals of an execution from its siblings, and those of a version from its warden. */
  readonly siblings: ConfinedSiblings;
}

/**
 * Level C, where user namespaces are refused: Landlock, seccomp and, as root, a uid per version. Paths, processes and the network are
 * the host's; what may be done with them is what the launcher (`confine.py`) leaves.
 */
export async function prepareConfined(
  options: ConfinedOptions,
  request: SandboxRequest,
): Promise<SandboxLaunch> {
  const user = options.takeUser();
  try {
    return prepareLaunch(options, request, user);
  } catch (error) {
    user.release();
    throw error;
  }
}

function prepareLaunch(
  { architecture, siblings, interpreter, networks }: ConfinedOptions,
  request: SandboxRequest,
  { uid, gid, isOwn, epoll, admit, release }: SandboxUser,
): SandboxLaunch {
  const childFilter = createChildFilter(architecture, siblings).toString("base64");
  const { projectDirectory, runnerDirectory, zygoteDirectory } = request;
  const scratch = join(zygoteDirectory, "scratch");
  mkdirSync(scratch, { mode: 0o700 });
  const readable = listReadable(request);
  // Without a namespace of its own a version has the host's network or none.
  const isOpen = networks.fallback === "host" && decideNetwork(networks.policy, request.network) !== "none";
  const network = isOpen ? "shared" : "refused";
  const filter = createConfinedFilter(architecture, { network, epoll, siblings }).toString("base64");
  const home = join(zygoteDirectory, "home");
  // It exists, and cannot be listed.
  const opened = [join(zygoteDirectory, "in")];
  const rights = { readable, used: DEVICES, owned: [scratch], opened, filter, processes: PROCESS_STEP };
  const list = openSync(scratch, "r"); // before it can no longer be listed
  admit(scratch, "create");
  admit(zygoteDirectory, "enter");
  return {
    view: {
      project: projectDirectory,
      runner: runnerDirectory,
      zygote: zygoteDirectory,
      scratch,
      // The filter refuses sockets that connect by a path.
      hasDoors: false,
      isolation: { namespaces: false, network: "shared", filter: childFilter, landlock: readable, opened },
    },
    wrap: (command) => ({
      executable: interpreter,
      args: [
        "-I",
        "-S",
        runnerDirectory,
        "confine",
        writeOrder({ directory: projectDirectory, home, command: [...command, "confined"], ...rights }),
      ],
    }),
    environment: { ...BASE_ENVIRONMENT, HOME: scratch, TMPDIR: scratch },
    hasBegun: (status) => status.startsWith(BEGUN),
    // Descriptor 5 of the launcher, `SCRATCH` in `confine.py`.
    descriptors: [list],
    connect: null,
    listHelpers: () => [],
    ...(isOwn ? { uid, gid } : {}),
    // The launcher's first process ends all others before itself; killed, it would leave them behind.
    kill: (child) => void child.kill("SIGTERM"),
    disconnect: () => undefined,
    release,
  };
}

function listReadable({
  projectDirectory,
  runnerDirectory,
  readablePaths,
}: SandboxRequest): readonly string[] {
  return [...listSystemPaths(), "/proc", projectDirectory, runnerDirectory, ...readablePaths];
}

/** `ConfineOrder` in `messages.py`. */
function writeOrder(order: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ parent: pid, ...order });
}
