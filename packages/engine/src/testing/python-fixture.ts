import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { TrustedExecutable } from "../host/trusted-executable.ts";
import { VERSION } from "./version.ts";
import { createPythonRuntime } from "../python/python-runtime.ts";
import type {
  ExternalRun,
  LogLine,
  NotStarted,
  Outcome,
  OutputPool,
  PinnedInputs,
  ProgressUpdate,
  PythonRuntime,
  QuantumAccess,
  Run,
  RunnableVersion,
  StagedInputs,
} from "../python/port/runtime.ts";
import { isAtLeast } from "@platform/contract/sandbox";
import type { SandboxLevel } from "@platform/contract/sandbox";
import { findSandbox } from "../python/sandbox/find-sandbox.ts";
import type { FindSandboxOptions } from "../python/sandbox/find-sandbox.ts";
import { describeShortfall } from "../python/sandbox/grade.ts";
import { createNoSandbox } from "../python/sandbox/no-sandbox.ts";
import type { Sandbox } from "../python/sandbox/sandbox.ts";
import { waitUntil } from "./wait-until.ts";
import type { PythonRuntimeOptions } from "../python/port/settings.ts";
import { SILENT } from "./silent-logger.ts";

/** A system Python: one in a home directory cannot be read by the uids that versions run as. */
export const INTERPRETER = "/usr/bin/python3";
const TRUSTED_INTERPRETER = TrustedExecutable.vouchFor(INTERPRETER, "named by the operator");

/** How long an execution may take that a test names no time for: a limit for what hangs; more where a processor is emulated (`npm run test:kernels`). */
const EXECUTION_SECONDS = Number(process.env["PLATFORM_TEST_EXECUTION_SECONDS"] ?? 120);

interface Finished {
  readonly outcome: Outcome | NotStarted;
  readonly lines: readonly LogLine[];
  /** In the order in which it came. */
  readonly reported: readonly ProgressUpdate[];
  /** The parsed result; undefined when there is none. */
  readonly result: unknown;
}

/** Of `dataRef`: text, or the path of a file that is linked. */
type Content = string | { readonly linkTo: string };

interface RunOptions {
  readonly data?: unknown;
  readonly params?: unknown;
  readonly body?: string;
  /** From `stage`; takes the place of `data`. */
  readonly files?: StagedInputs;
  readonly pins?: PinnedInputs;
  readonly timeoutSeconds?: number;
  readonly outputPool?: OutputPool;
  readonly quantum?: QuantumAccess;
  readonly external?: ExternalRun;
}

interface Started extends Run {
  readonly lines: readonly LogLine[];
  readonly reported: readonly ProgressUpdate[];
}

export interface Fixture {
  readonly runtime: PythonRuntime;
  readonly directory: string;
  /** A version whose src/program.py has this text. */
  readonly createVersion: (
    program: string,
    changes?: Partial<RunnableVersion>,
    files?: Record<string, string>,
  ) => RunnableVersion;
  readonly stage: (content: Content) => Promise<StagedInputs>;
  readonly start: (version: RunnableVersion, options?: RunOptions) => Started;
  /** Starts, waits for the outcome and for the end of the processes. */
  readonly finish: (version: RunnableVersion, options?: RunOptions) => Promise<Finished>;
  readonly close: () => Promise<void>;
}

function openRuntime(
  directory: string,
  options: Partial<PythonRuntimeOptions> & Pick<PythonRuntimeOptions, "sandbox">,
): PythonRuntime {
  try {
    return createPythonRuntime({
      runDirectory: join(directory, "run"),
      logger: SILENT,
      interpreter: TRUSTED_INTERPRETER,
      ...options,
    });
  } catch (error) {
    // Some tests want it to be refused: then nobody closes the fixture.
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

/** The sandbox that this machine offers. */
export function findTestSandbox(options: Partial<FindSandboxOptions> = {}): Promise<Sandbox> {
  return findSandbox({ interpreter: TRUSTED_INTERPRETER, searchPath: process.env["PATH"] ?? "", ...options });
}

/** A sandbox of this level, without what better levels need. @throws Error where this machine cannot have it */
async function createSandbox(level: SandboxLevel): Promise<Sandbox> {
  if (level === "D") return createNoSandbox({ level: "D", missing: [] });
  const sandbox = await findTestSandbox(level === "C" ? { bubblewrapPath: "/nonexistent" } : {});
  if (!isAtLeast(sandbox.report.level, level)) throw new Error(describeShortfall(sandbox.report, level));
  return sandbox;
}

export async function createFixture(
  options: Partial<PythonRuntimeOptions> = {},
  level: SandboxLevel = "B",
): Promise<Fixture> {
  const directory = mkdtempSync(join(tmpdir(), "python-runtime-"));
  chmodSync(directory, 0o755);
  const sandbox = options.sandbox ?? (await createSandbox(level));
  const runtime = openRuntime(directory, { ...options, sandbox });
  let sequence = 0;

  function createVersion(
    program: string,
    changes: Partial<RunnableVersion> = {},
    files: Record<string, string> = {},
  ): RunnableVersion {
    sequence += 1;
    const projectDirectory = join(directory, `project-${sequence}`);
    for (const [path, text] of Object.entries({
      "src/__init__.py": "",
      "src/program.py": program,
      ...files,
    })) {
      mkdirSync(dirname(join(projectDirectory, path)), { recursive: true });
      writeFileSync(join(projectDirectory, path), text);
    }
    return {
      ...VERSION,
      id: `version-${sequence}`,
      projectDirectory,
      interpreter: INTERPRETER,
      ...changes,
    };
  }

  function stage(content: Content): Promise<StagedInputs> {
    return runtime.stageInputs(async ({ locate }) => {
      if (typeof content === "string") writeFileSync(locate("data"), content);
      else linkSync(content.linkTo, locate("data"));
    });
  }

  function start(version: RunnableVersion, given: RunOptions = {}): Started {
    const lines: LogLine[] = [];
    const reported: ProgressUpdate[] = [];
    const { data, params } = given;
    const body = Buffer.from(given.body ?? JSON.stringify({ data, params }));
    const run = runtime.run({
      executionId: `execution-${(sequence += 1)}`,
      version,
      input:
        given.files === undefined
          ? { body }
          : { body, referred: { files: given.files, pins: given.pins ?? {} } },
      ...(given.outputPool === undefined ? {} : { outputPool: given.outputPool }),
      ...(given.quantum === undefined ? {} : { quantum: given.quantum }),
      ...(given.external === undefined ? {} : { external: given.external }),
      timeoutSeconds: given.timeoutSeconds ?? EXECUTION_SECONDS,
      onLog: async (batch) => void lines.push(...batch),
      onProgress: async (update) => void reported.push(update),
    });
    return { ...run, lines, reported };
  }

  async function finish(version: RunnableVersion, given: RunOptions = {}): Promise<Finished> {
    const run = start(version, given);
    const outcome = await run.outcome;
    await run.ended;
    const result: unknown =
      outcome.status === "SUCCEEDED" ? JSON.parse(Buffer.from(outcome.result).toString()) : undefined;
    return { outcome, lines: run.lines, reported: run.reported, result };
  }

  return {
    runtime,
    directory,
    createVersion,
    stage,
    start,
    finish,
    close: async () => {
      await runtime.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Waits for a condition, with a deadline; `what` says it in words. */
export async function waitFor(what: string, condition: () => boolean): Promise<void> {
  await waitUntil(condition, what);
}
