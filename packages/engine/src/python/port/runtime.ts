import type { FileReference } from "@platform/contract/execution";
import type { Network } from "@platform/contract/network";
import type { OutputLimits, ProjectKind, Resources } from "@platform/contract/project";
import type { ByteRange } from "../../base/byte-range.ts";
import type { TraceContext } from "../../base/trace-context.ts";
import type { ReceivedContent } from "../../content/result-store.ts";

/** A version that is ready to run: unpacked, with its environment built. Paths are absolute and readable by the sandbox. */
export interface RunnableVersion {
  /** Stable key of the zygote: one warm process per id, and per tenant where it has some. */
  readonly id: string;
  /** For whom it runs: nothing of one tenant is in a process, or under a user, of another. Missing: all callers of the version are one. */
  readonly tenant?: string;
  /** The unpacked project: the working directory of `run`, holding `src/program.py`. */
  readonly projectDirectory: string;
  /** Python executable of the environment that holds the version's requirements. */
  readonly interpreter: string;
  /** Absolute paths outside the system directories that `interpreter` needs to read (environment, base installation). */
  readonly readablePaths: readonly string[];
  readonly resources: Resources;
  /** Service variables and secrets in the environment of user code. */
  readonly variables: Readonly<Record<string, string>>;
  /** Values among them that are written nowhere: logs and failures are stored without them. */
  readonly secrets: readonly string[];
  /**
   * `auto` forks from the zygote where that is safe; `spawn` starts a fresh interpreter for each execution, so that executions do
   * not share what the import made either (`isolation` in `platform.json`).
   */
  readonly startMode: "auto" | "spawn";
  /** What executions can reach; null: what the operator has set for versions that do not say. */
  readonly network: Network | null;
  /** What one execution may return and print; null: what the platform allows. */
  readonly output: OutputLimits | null;
  /** Whether its executions wait for jobs elsewhere, whose handles they keep; missing: they do not. */
  readonly isExternal?: boolean;
}

/** JSON text, which Node does not parse after it was accepted. */
export interface ExecutionInput {
  /** The start body as received: an object with `data` and/or `params` (and references). */
  readonly body: Uint8Array;
  /** What takes the place of `data` and `params`; missing: the start has no references. */
  readonly referred?: { readonly pins: PinnedInputs; readonly files: StagedInputs };
}

/** What can be passed by reference. */
export const INPUT_NAMES = ["data", "params"] as const;
/** One of them: as a member of the input, and the name of its file. */
export type InputName = (typeof INPUT_NAMES)[number];

/** Content that takes the place of `data` or `params`: whatever becomes of the file, an execution reads this. */
export interface InputPin extends FileReference {
  /** SHA-256 of the file in hex. */
  readonly sha256: string;
  /** Size of the file. */
  readonly bytes: number;
  /** The part that the pointer names; missing: all of it. */
  readonly range?: ByteRange;
}

/** A file of a data pool that a run reads as a folder. */
export interface PoolFilePin extends Pick<InputPin, "fileId" | "sha256" | "bytes"> {
  readonly name: string;
}

/** A data pool that a run reads as a folder: whatever becomes of the pool, these files. */
interface PoolPin {
  /** Where it stands in the input: `data` or `params`, and the member of it, if it is one. */
  readonly path: readonly string[];
  readonly dataPoolId: string;
  readonly files: readonly PoolFilePin[];
}

/** By what they take the place of; missing: given by value, or not at all. */
export interface PinnedInputs extends Readonly<Partial<Record<InputName, InputPin>>> {
  /** Missing: there are none. */
  readonly pools?: readonly PoolPin[];
}

/** Where the input of one execution is gathered. */
export interface StagingArea {
  /** The path of the file that takes the place of `data` or `params`. */
  readonly locate: (name: InputName) => string;
  /** Makes the folder of the data pool of this number, and returns its path. @throws the system's error */
  readonly makePool: (number: number) => Promise<string>;
}

/** Input of one execution as read-only files in a folder of their own. */
export interface StagedInputs {
  /** Their sizes; what is missing was not passed by reference. */
  readonly bytes: Readonly<Partial<Record<InputName, number>>>;
  /** Moves the folder into this one, and returns its path from there, which cannot be guessed. @throws the system's error */
  readonly moveTo: (folder: string) => string;
  /** Queues the folder for removal, wherever it is. */
  readonly discard: () => void;
}

/** One line of an execution's output. */
export interface LogLine {
  /** Milliseconds since the epoch, taken when Node received the line. */
  readonly time: number;
  readonly severity: "DEBUG" | "INFO" | "WARNING" | "ERROR" | "CRITICAL";
  /** Without its line break. A line over the limit is cut, and says so. */
  readonly message: string;
}

/** A data pool whose place in the input becomes a folder that a run writes to. */
export interface OutputPool {
  /** Where it stands in the input: `data` or `params`, and the member of it, if it is one. */
  readonly path: readonly string[];
  readonly dataPoolId: string;
}

/** A small JSON object that the platform wrote. */
export type Metadata = Readonly<Record<string, unknown>>;

/** A file that a run has left. */
export interface OutputFile {
  readonly name: string;
  readonly content: ReceivedContent;
}

/** What a run returned besides its message, in files of the platform that nobody else knows. */
export interface RunOutput {
  /** The result: text that begins and ends as an object does. What lies between was not looked at. Null: it is in the message. */
  readonly result: ReceivedContent | null;
  /** What it has left in OUTPUT_DIRECTORY, by names that `explainFileName` has nothing against. */
  readonly files: readonly OutputFile[];
  /** What it has left for the output pool, by such names. Missing: nothing. */
  readonly poolFiles?: readonly OutputFile[];
}

/** How an execution ended. The type allows only valid combinations of status and code. */
export type Outcome =
  | {
      readonly status: "SUCCEEDED";
      /** Empty where `output` has it. */
      readonly result: Uint8Array;
      readonly metadata: Uint8Array | null;
      /** What was too large for a message; whoever has the outcome keeps or drops it. Missing: nothing was. */
      readonly output?: RunOutput;
      /** CPU time that was measured, to a millionth. Missing: none was. */
      readonly cpuSeconds?: number;
    }
  | {
      readonly status: "FAILED";
      readonly code: string;
      readonly detail: string;
      /** What the platform knows of the run beside its code: what it used. Missing: nothing. */
      readonly metadata?: Metadata;
      /** As for SUCCEEDED. */
      readonly cpuSeconds?: number;
    }
  | {
      readonly status: "UNKNOWN";
      readonly code: "WORKER_LOST";
      readonly detail: string;
      /** The code of an external backend has looked, and nothing more can be known: no other attempt follows. */
      readonly isFinal?: true;
    };

/**
 * No outcome: user code provably never began (no request was written to any process), and the project is not the cause.
 * The claim may be given back and started again, here or elsewhere.
 */
export interface NotStarted {
  readonly status: "NOT_STARTED";
  /** For the operator's log: it may name paths of the host. */
  readonly detail: string;
  /**
   * `worker`: the version cannot be the cause (no process, no sandbox, no disk; the worker stops).
   * `version`: it happened inside the version's own sandbox, so code of the version may be the cause: it implies
   * nothing about other versions on this worker.
   */
  readonly scope: "worker" | "version";
}

/** What a run has reported of itself since the last update: at least one of both. */
export interface ProgressUpdate {
  /** How much of the work is done, from 0 to 1, and what is being done: without NUL. Null: it has not said. */
  readonly progress: { readonly fraction: number; readonly message: string } | null;
  /** JSON text of an object: what there is of a result. Null: nothing new. */
  readonly checkpoint: Uint8Array | null;
}

/** How one execution may use the quantum API. */
export interface QuantumAccess {
  /** Good for that API, and while the execution runs. */
  readonly token: string;
  /** Whether user code finds it by the names that published clients of such platforms read as well. */
  readonly published: boolean;
}

/** What an execution of an external backend has begun elsewhere. */
export interface ExternalRun {
  /** What attempts before have kept; null: nothing. */
  readonly handle: string | null;
  /** Whether the worker of an attempt before was lost: it may have begun something whose handle was not kept. */
  readonly wasLost: boolean;
  /** Called one at a time; true once it is stored durably, false when the claim is no longer held. The code waits for that. Never rejects. */
  readonly onHandle: (handle: string) => Promise<boolean>;
}

/** One execution: which code, with which input, for how long. */
export interface RunRequest {
  readonly executionId: string;
  /** Number of the attempt, the first is 1: what user code has as SERVICE_EXECUTION_ATTEMPT. Missing: it is the first. */
  readonly attempt?: number;
  readonly version: RunnableVersion;
  readonly input: ExecutionInput;
  /** The data pool that gets files of the run: missing, none. */
  readonly outputPool?: OutputPool;
  /** What user code has as TRACEPARENT and TRACESTATE: missing, nothing. */
  readonly trace?: TraceContext;
  /** What user code is let into the quantum API with, where its sandbox has a door. Missing: it gets no access. */
  readonly quantum?: QuantumAccess;
  /** Wall-clock limit in seconds, counted from the hand-over to the child. */
  readonly timeoutSeconds: number;
  /**
   * Called in order with batches; settles when they are written. A process that prints has to wait while 1 MiB is not written, and
   * `outcome` waits for all of it. Never called after `outcome` settled.
   */
  readonly onLog: (lines: readonly LogLine[]) => Promise<void>;
  /**
   * Called with the newest that the code has reported, about once a second and one call at a time; settles when it is written. `outcome` waits for the
   * last of it. Never called after `outcome` settled. Missing: what is reported is dropped.
   */
  readonly onProgress?: (update: ProgressUpdate) => Promise<void>;
  /** Given for versions that are external. */
  readonly external?: ExternalRun;
}

/** An execution that was passed to the runtime. `began` settles first; `outcome` and `ended` follow in either order. */
export interface Run {
  /** True as soon as user code may have begun; false when it certainly never will. Never rejects. */
  readonly began: Promise<boolean>;
  /** Settles once, when the outcome is known and the log lines are drained. Never rejects. */
  readonly outcome: Promise<Outcome | NotStarted>;
  /** Settles when every process of the execution has ended, so that its vCPUs and memory are free. Never rejects. */
  readonly ended: Promise<void>;
  /** Ends the whole process tree; the outcome becomes FAILED with this code unless it was known before. */
  readonly kill: (reason: { readonly code: "CANCELLED" | "TIMEOUT"; readonly detail: string }) => void;
}

/** The result of importing a version's module: used by the builder and by `serve`. */
export type Probe =
  | {
      readonly ok: true;
      readonly inputSchema: Record<string, unknown> | null;
      readonly outputSchema: Record<string, unknown> | null;
      /** What `describe` of a backend has returned; null for a service. */
      readonly description: Record<string, unknown> | null;
      readonly startMode: "fork" | "spawn";
      /** One line: what the module does at import that prevents forking, and what to do instead. Null when it can be forked or asks for `spawn`. */
      readonly startModeReason: string | null;
    }
  | { readonly ok: false; readonly code: string; readonly detail: string; readonly traceback: string | null };

/** Shown to deployers before `startModeReason`. */
export const SLOW_START_NOTE = "Each execution starts a fresh interpreter, which is slower";

/** The processes of a runtime at this moment. */
export interface RuntimeLoad {
  readonly zygotes: number;
  /** Children that wait for an execution, and those that have one. */
  readonly idleChildren: number;
  readonly runningChildren: number;
}

/** Runs executions of Python versions; one per worker process. */
export interface PythonRuntime {
  /** The files of the input are its own from here on: they are discarded when `ended` settles. */
  readonly run: (request: RunRequest) => Run;
  /**
   * Makes room for the input of one execution and waits for `fill` to put files where the area says: each a file of its own, or a hard link to one of
   * the platform (mode 0444), which is copied where a run could change its permissions. The caller discards what it does not pass to `run`.
   *
   * @throws what `fill` throws, or the system; nothing is left then
   */
  readonly stageInputs: (fill: (area: StagingArea) => Promise<void>) => Promise<StagedInputs>;
  /**
   * Boots the version, imports the user's module, finds `run` and derives its schemas; of a backend, calls `describe`. No process is left running.
   *
   * @throws Error when no process could be started for it; the project is then not the cause. The reason of the signal, which ends it
   */
  readonly probe: (version: RunnableVersion, kind?: ProjectKind, signal?: AbortSignal) => Promise<Probe>;
  /** Ends the zygotes of a version, of all its tenants (retired, or edited under `serve`); running executions of it finish first. */
  readonly retire: (versionId: string) => Promise<void>;
  readonly readLoad: () => RuntimeLoad;
  /** Kills all running executions and frees all resources. */
  readonly close: () => Promise<void>;
}
