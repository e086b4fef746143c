import { totalmem } from "node:os";
import type { OutputLimits } from "@platform/contract/project";
import type { Resources } from "@platform/contract/project";
import { GIGABYTE, MEGABYTE } from "../../base/bytes.ts";
import { HOUR, MINUTE, SECOND } from "../../base/time.ts";
import type { TrustedExecutable } from "../../host/trusted-executable.ts";
import type { ResultStore } from "../../content/result-store.ts";
import type { Logger } from "../../base/logger.ts";
import type { Doorkeeper } from "../../base/door.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** What the creator of a runtime decides; `readSettings` adds the defaults. */
export interface PythonRuntimeOptions {
  /** Absolute path of the platform's folder for sockets and scratch files; created. At most 80 bytes, since socket paths are limited. */
  readonly runDirectory: string;
  /** Folder of the Python half; default: the one beside this source. It is copied, so the sandbox need not be able to read it. */
  readonly runnerDirectory?: string;
  readonly sandbox: Sandbox;
  /** The installation that environments are created from: compiles the Python half in advance. Null: every cold start compiles it. */
  readonly interpreter: TrustedExecutable | null;
  readonly logger: Logger;
  /** Maximum number of idle children per version. */
  readonly slots?: number;
  /** Receives results above `inlineBytes`. Missing: none is too large for a message. */
  readonly results?: Pick<ResultStore, "receive">;
  /** Why a file of an output pool cannot have this name here, as a sentence, where any other data pool has it; null: it can. Missing: all can. */
  readonly explainPoolName?: (name: string) => string | null;
  /** Who answers what executions send through the doors of their sandboxes. Missing: there are no doors. */
  readonly doorkeeper?: Doorkeeper;
  /** The vCPUs and GB of this worker; missing: not known. */
  readonly capacity?: Resources;
  /** Idle children end after this time, the zygote after ten times as long. */
  readonly idleSeconds?: number;
  /** What zygotes and their idle children may take together; default: a quarter of the machine's memory. */
  readonly zygoteMemoryBytes?: number;
  /** Maximum number of zygotes. Beyond it, and beyond their memory, the least recently used idle one is ended. */
  readonly maxZygotes?: number;
  /** Defaults: results of 16 MB, those above 1 MB not in a message; logs of 16 MB, lines of 16 kB. */
  readonly limits?: Partial<Limits>;
  readonly times?: Partial<Times>;
}

/** What one execution may leave in OUTPUT_DIRECTORY and its output pool: entries, and bytes of all files together. */
export interface FileLimits {
  readonly count: number;
  readonly bytes: number;
}

/** What one execution may return and print. */
interface Limits {
  /** Largest result in bytes of JSON text. */
  readonly resultBytes: number;
  /** Larger results are received into a file. */
  readonly inlineBytes: number;
  /** Without `results`, files are not returned. */
  readonly files: FileLimits;
  /** Maximum bytes of an execution's log, and of one line. */
  readonly logBytes: number;
  readonly logLineBytes: number;
}

/** Milliseconds. */
interface Times {
  /** Time between SIGTERM and SIGKILL of a cancelled execution. */
  readonly graceMs: number;
  /** The same of an external backend, which cancels what it waits for: also where its time is over. */
  readonly externalGraceMs: number;
  /** Time for reading an answer that was sent before its process ended: it may be large, or wait for its turn. */
  readonly answerMs: number;
  /** Time between the answer and SIGKILL of a process that does not end by itself. */
  readonly exitMs: number;
  /** Time after SIGKILL until the processes must have ended; otherwise the whole sandbox is killed. */
  readonly confirmMs: number;
  /** Time after the answer for log lines that a background process holds back. */
  readonly drainMs: number;
  /** Time limit for a zygote's first event: bubblewrap and the interpreter, before any code of the project. */
  readonly helloMs: number;
  /** Time limit for the import of the user's module. */
  readonly bootMs: number;
  /** A module that could not be imported is not tried again within this time. */
  readonly failureMs: number;
  /** A module that could not be imported three times in a row is parked for this time, then for twice as long, and so on. */
  readonly parkMs: number;
  readonly maxParkMs: number;
  /** Age after which a zygote is replaced. */
  readonly maxAgeMs: number;
  /** A zygote that has made no child for this time makes one, which shows that it still can. */
  readonly canaryMs: number;
  /** A zygote whose child is not ready within this time is replaced. */
  readonly canaryLateMs: number;
  /** Time until a zygote that was to be replaced and was not is to be replaced again. */
  readonly replaceMs: number;
}

/** The options in milliseconds and bytes, with defaults filled in. */
export interface Settings extends Limits, Times {
  /** Maximum number of idle children per version. */
  readonly slots: number;
  /** Null: results are not received into files. */
  readonly results: Pick<ResultStore, "receive"> | null;
  /** See `PythonRuntimeOptions`. */
  readonly explainPoolName: (name: string) => string | null;
  /** The vCPUs and GB of this worker; null: not known. */
  readonly capacity: Resources | null;
  /** Idle children end after this time. */
  readonly idleMs: number;
  /** An idle zygote ends after this time. */
  readonly zygoteIdleMs: number;
  readonly zygoteMemoryBytes: number;
  readonly maxZygotes: number;
}

/** Part of the machine's memory that zygotes may take unless an option says otherwise. */
const ZYGOTE_MEMORY_SHARE = 0.25;
/** How many times longer than its children a zygote may be idle. */
const ZYGOTE_IDLE_FACTOR = 10;

const DEFAULT_LIMITS: Limits = {
  resultBytes: 16 * MEGABYTE,
  inlineBytes: MEGABYTE,
  files: { count: 100, bytes: GIGABYTE },
  logBytes: 16 * MEGABYTE,
  logLineBytes: 16 * 1024,
};
const DEFAULT_TIMES: Times = {
  graceMs: 2 * SECOND,
  externalGraceMs: 15 * SECOND,
  answerMs: SECOND,
  exitMs: 500,
  confirmMs: 10 * SECOND,
  drainMs: 250,
  helloMs: 60 * SECOND,
  bootMs: 60 * SECOND,
  failureMs: 10 * SECOND,
  parkMs: MINUTE,
  maxParkMs: 5 * MINUTE,
  maxAgeMs: 6 * HOUR,
  canaryMs: MINUTE,
  canaryLateMs: 10 * SECOND,
  replaceMs: MINUTE,
};

/** Adds the defaults; nothing is checked. */
export function readSettings(options: PythonRuntimeOptions): Settings {
  const idleMs = (options.idleSeconds ?? 60) * SECOND;
  return {
    slots: options.slots ?? 4,
    results: options.results ?? null,
    explainPoolName: options.explainPoolName ?? (() => null),
    capacity: options.capacity ?? null,
    idleMs,
    zygoteIdleMs: idleMs * ZYGOTE_IDLE_FACTOR,
    zygoteMemoryBytes: options.zygoteMemoryBytes ?? totalmem() * ZYGOTE_MEMORY_SHARE,
    maxZygotes: options.maxZygotes ?? 256,
    ...DEFAULT_LIMITS,
    ...options.limits,
    ...DEFAULT_TIMES,
    ...options.times,
  };
}

/** The settings for one version, which may return and print less than the platform allows. */
export function limitOutput(settings: Settings, output: OutputLimits | null): Settings {
  if (output === null) return settings;
  const { resultMegabytes = Infinity, logMegabytes = Infinity } = output;
  return {
    ...settings,
    resultBytes: Math.min(settings.resultBytes, resultMegabytes * MEGABYTE),
    logBytes: Math.min(settings.logBytes, logMegabytes * MEGABYTE),
  };
}
