import { MEGABYTE } from "../../base/bytes.ts";
import { SECOND } from "../../base/time.ts";
import type { TrustedExecutable } from "../../host/trusted-executable.ts";
import type { Logger } from "../../base/logger.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

export interface PythonRuntimeOptions {
  /** Absolute path of a folder of ours for sockets and scratch; created. At most 70 characters: a socket's path is limited. */
  readonly runDirectory: string;
  /** The Python half; by default the one beside this source. It is copied, so it need not be readable by the sandbox. */
  readonly runnerDirectory?: string;
  readonly sandbox: Sandbox;
  /** The installation that environments are made of: compiles the Python half ahead. Null: every cold start compiles it. */
  readonly interpreter: TrustedExecutable | null;
  readonly logger: Logger;
  /** Most idle children that a version keeps ready. */
  readonly slots?: number;
  /** Idle children go after this time, the zygote after ten times of it. */
  readonly idleSeconds?: number;
  /** Zygotes alive at once; above it the least recently used idle one ends. */
  readonly maxZygotes?: number;
  readonly limits?: Partial<Limits>;
  readonly times?: Partial<Times>;
}

export interface Limits {
  /** Largest result in bytes of JSON text. */
  readonly resultBytes: number;
  /** What one execution may log in all, and in one line. */
  readonly logBytes: number;
  readonly logLineBytes: number;
}

/** Milliseconds. */
export interface Times {
  /** Between SIGTERM and SIGKILL of a cancelled execution. */
  readonly graceMs: number;
  /** Between the answer and SIGKILL of a process that does not end by itself. */
  readonly exitMs: number;
  /** After SIGKILL, until the processes must be gone; else the whole sandbox is killed. */
  readonly confirmMs: number;
  /** After the answer, for log lines that a background process holds back. */
  readonly drainMs: number;
  /** Until a zygote says hello: bubblewrap and the interpreter, before any code of the project. */
  readonly helloMs: number;
  /** For the import of the user's module. */
  readonly bootMs: number;
  /** A module that could not be imported is not tried again for this long. */
  readonly failureMs: number;
}

export interface Settings extends Limits, Times {
  readonly slots: number;
  readonly idleMs: number;
  readonly zygoteIdleMs: number;
  readonly maxZygotes: number;
}

export const ZYGOTE_IDLE_FACTOR = 10;

const DEFAULT_LIMITS: Limits = {
  resultBytes: 16 * MEGABYTE,
  logBytes: 16 * MEGABYTE,
  logLineBytes: 16 * 1024,
};
const DEFAULT_TIMES: Times = {
  graceMs: 2 * SECOND,
  exitMs: 3 * SECOND,
  confirmMs: 10 * SECOND,
  drainMs: 250,
  helloMs: 60 * SECOND,
  bootMs: 60 * SECOND,
  failureMs: 10 * SECOND,
};

export function readSettings(options: PythonRuntimeOptions): Settings {
  const idleMs = (options.idleSeconds ?? 60) * SECOND;
  return {
    slots: options.slots ?? 4,
    idleMs,
    zygoteIdleMs: idleMs * ZYGOTE_IDLE_FACTOR,
    maxZygotes: options.maxZygotes ?? 32,
    ...DEFAULT_LIMITS,
    ...options.limits,
    ...DEFAULT_TIMES,
    ...options.times,
  };
}
