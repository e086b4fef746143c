import type { TrustedExecutable } from "../../host/trusted-executable.ts";

/** Descriptor on which a launcher reports; the process inside does not have it. */
export const STATUS_FD = 4;

/** How much a sandbox keeps apart, from least to most. */
export type SandboxLevel = "none" | "bubblewrap";

/** What one zygote needs to see; absolute host paths. */
export interface SandboxRequest {
  readonly projectDirectory: string;
  readonly runnerDirectory: string;
  readonly readablePaths: readonly string[];
  /** Folder of this zygote alone: holds the home socket. Handed over to the sandbox's uid. */
  readonly roomDirectory: string;
}

/** Paths as seen from inside. */
export interface SandboxView {
  readonly project: string;
  readonly runner: string;
  readonly room: string;
  /** Where executions without a private /tmp get their folders. */
  readonly scratch: string;
  /** Whether each child enters namespaces of its own. */
  readonly isolate: boolean;
}

export interface SandboxLaunch {
  readonly view: SandboxView;
  /** What the host starts so that `command`, which may be anybody's file, runs inside. */
  readonly wrap: (command: readonly [string, ...string[]]) => {
    readonly executable: TrustedExecutable;
    readonly args: readonly string[];
  };
  /** Environment of the process inside; nothing of the host's. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Whether the interpreter inside was started, from what the launcher wrote to descriptor 4 until its end; null when
   * there is no launcher: the interpreter is then started directly.
   */
  readonly hasBegun: ((status: string) => boolean) | null;
  readonly uid?: number;
  readonly gid?: number;
  /** Gives the uid back once every process of the sandbox is gone. */
  readonly release: () => void;
}

/** Starts the processes of one version apart from the host and from other versions. Two adapters: bubblewrap and none. */
export interface Sandbox {
  readonly level: SandboxLevel;
  readonly prepare: (request: SandboxRequest) => SandboxLaunch;
  /** Tries it with nothing of anybody's inside: why it does not work on this machine now; null: it does. */
  readonly findFault: () => Promise<string | null>;
}

/** The machine cannot give the sandbox that was asked for; the message says what to install or allow. */
export class SandboxUnavailableError extends Error {
  override readonly name = "SandboxUnavailableError";
}

/** Environment that every version starts with. The big-page tunable makes forking a zygote of 500 MB take 0.4 instead of 15 ms. */
export const BASE_ENVIRONMENT = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/tmp",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
  GLIBC_TUNABLES: "glibc.malloc.hugetlb=1",
} as const;
