import type { Network } from "@platform/contract/network";
import type { Resources } from "@platform/contract/project";
import type { SandboxReport } from "@platform/contract/sandbox";
import type { Cgroups } from "./cgroups/cgroups.ts";
import type { ChildProcess } from "../../host/processes.ts";
import type { TrustedExecutable } from "../../host/trusted-executable.ts";

/** Descriptor on which a launcher reports; the process inside does not have it. */
export const STATUS_FD = 4;
/** The first of `SandboxLaunch.descriptors`. */
export const FIRST_DESCRIPTOR = 5;

/** Processes and threads of one execution, and of an import. */
export const PROCESS_LIMIT = 256;

/** The files that one zygote needs to see; absolute host paths. */
export interface SandboxRequest {
  readonly projectDirectory: string;
  readonly runnerDirectory: string;
  readonly readablePaths: readonly string[];
  /** Folder of this zygote, with its home socket and the folder `in`. Its owner becomes the sandbox's uid. */
  readonly zygoteDirectory: string;
  /** Each file system in memory that the zygote may write to holds at most the memory, which its children do not count. */
  readonly resources: Resources;
  /** Executions and prepared children of the zygote that can exist at the same time. */
  readonly children: number;
  /** Whether control groups bound its processes. */
  readonly isGrouped: boolean;
  /** What its processes ask to reach; null: what the operator has set for such versions. */
  readonly network: Network | null;
  /** Informed, in sentences for the log, of what does not work as the version asks for it, also later. */
  readonly onNotice: (message: string) => void;
}

/** How the children of a zygote are separated from each other. */
export interface Isolation {
  /** Whether each is pid 1 of processes of its own, with a user, mount and IPC namespace; otherwise it is a fork with a session. */
  readonly namespaces: boolean;
  /** `own`: it has a loopback interface and no other network; needs `namespaces`. */
  readonly network: "own" | "shared";
  /** Base64 of a program that filters system calls (`createChildFilter`), in addition to the sandbox's; null: no calls are filtered. */
  readonly filter: string | null;
  /** Paths that each may read besides its own folders: Landlock confines it to these as far as the kernel can. Null: it is not confined. */
  readonly landlock: readonly string[] | null;
  /** Folders below which each may read the files whose paths it knows, and list nothing, in addition to `landlock`. */
  readonly opened: readonly string[];
}

/** Paths as seen from inside. */
interface SandboxView {
  readonly project: string;
  readonly runner: string;
  readonly zygote: string;
  /** Parent folder for the folders of executions without a private /tmp. */
  readonly scratch: string;
  readonly isolation: Isolation;
  /** Whether processes may connect to sockets in the folder `zygote`. */
  readonly hasDoors: boolean;
}

/** How one zygote is started in its sandbox. */
export interface SandboxLaunch {
  readonly view: SandboxView;
  /** The program that the host starts so that `command`, which may be an untrusted file, runs inside. */
  readonly wrap: (command: readonly [string, ...string[]]) => {
    readonly executable: TrustedExecutable;
    readonly args: readonly string[];
  };
  /** Environment of the process inside; contains nothing of the host's. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Determines whether the interpreter inside was started, from what the launcher wrote to descriptor 4 until its end; null when
   * there is no launcher: the interpreter is then started directly.
   */
  readonly hasBegun: ((status: string) => boolean) | null;
  /** Open files that the program gets as 5, 6 and so on. They belong to the caller, who closes them once it is started. */
  readonly descriptors: readonly number[];
  /** The user to start the program as; missing: the user of this process. */
  readonly uid?: number;
  readonly gid?: number;
  /**
   * Connects the network of the started program; called when the launcher has reported for the first time. No code of the project runs before it
   * resolves; when it rejects, the sandbox cannot be used. Null: there is nothing to connect.
   */
  readonly connect: ((pid: number) => Promise<void>) | null;
  /** Processes of the platform that work for this sandbox alone, at present: their memory counts as that of the zygote. */
  readonly listHelpers: () => readonly number[];
  /** Ends every process of the sandbox, given the one that was started. */
  readonly kill: (child: ChildProcess) => void;
  /** Ends the network that was connected. */
  readonly disconnect: () => void;
  /** Gives the user back, who may be another sandbox's next; call it once every process of the sandbox has ended. */
  readonly release: () => void;
}

/** Isolates the processes of one version from the host and from other versions. Three adapters: bubblewrap, confined and none. */
export interface Sandbox {
  /** What was found when it was tried at the start. */
  readonly report: SandboxReport;
  /** Enforce the limits of executions and of imports; null: this machine has none for this process. */
  readonly cgroups: Cgroups | null;
  /** Whether a run can be given a hard link to a read-only file of the platform: it changes neither its content nor its permissions and times. */
  readonly mayLink: boolean;
  /** What keeps a version that asks for this network from other hosts, as a sentence; null: nothing but the network itself. */
  readonly explainNetwork: (asked: Network | null) => string | null;
  readonly prepare: (request: SandboxRequest) => Promise<SandboxLaunch>;
  /**
   * Tries an empty sandbox: why it does not work on this machine at present; null when it works. Never rejects. Where `signal` aborts it, its
   * processes are killed, and it may say anything.
   */
  readonly findFault: (signal?: AbortSignal) => Promise<string | null>;
}

/** Base environment of every version. With the big-page tunable, forking a zygote of 500 MB takes 0.4 instead of 15 ms. */
export const BASE_ENVIRONMENT = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/tmp",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
  GLIBC_TUNABLES: "glibc.malloc.hugetlb=1",
} as const;
