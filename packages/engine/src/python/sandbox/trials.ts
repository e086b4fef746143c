import { chmodSync, cpSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MissingPiece, SandboxPiece } from "@platform/contract/sandbox";
import { runTrusted } from "../../host/processes.ts";
import type { TrustedExecutable } from "../../host/trusted-executable.ts";

/** Milliseconds. Each trial takes 20 to 60 ms; on a machine without a free processor much longer. */
export const TRIAL_TIMEOUT_MS = 10_000;

/** What trials are made with. */
export interface TrialTools {
  /** The base installation's interpreter. */
  readonly interpreter: TrustedExecutable;
  /** What the interpreter needs besides the system's folders. */
  readonly readablePaths: readonly string[];
  /** The Python half (`trial.py`). */
  readonly runnerDirectory: string;
  /** The user that versions run as, when that is not the user of this process. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

/** A trial, the piece that it tries, and what to do where it fails. */
export interface PieceTrial {
  readonly piece: SandboxPiece;
  readonly remedy: string;
  /**
   * Tries the piece in a process of its own: null when it works, else why not, as a sentence. `runner` is a copy of the Python half that the
   * user of trials can read.
   */
  readonly attempt: (tools: TrialTools, runner: string) => Promise<string | null>;
}

/** Makes all trials at the same time. Resolves to the pieces that do not work. */
export async function tryPieces(
  tools: TrialTools,
  trials: readonly PieceTrial[],
): Promise<readonly MissingPiece[]> {
  const folder = mkdtempSync(join(tmpdir(), "platform-trial-"));
  try {
    const runner = copyRunner(tools.runnerDirectory, folder);
    const faults = await Promise.all(trials.map(({ attempt }) => attempt(tools, runner)));
    return trials.flatMap(({ piece, remedy }, index) => {
      const why = faults[index] ?? null;
      return why === null ? [] : [{ piece, why, remedy }];
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The sources may lie in a home directory that is closed to the user of trials. */
function copyRunner(runnerDirectory: string, folder: string): string {
  const runner = join(folder, "runner");
  cpSync(runnerDirectory, runner, {
    recursive: true,
    filter: (path) => !path.endsWith("__pycache__") && !path.endsWith("tests"),
  });
  for (const path of [folder, runner, join(runner, "service_runner")]) chmodSync(path, 0o755);
  return runner;
}

/** Has `trial.py` try a piece, outside of every namespace. */
export async function tryInPython(
  { interpreter, user }: TrialTools,
  runner: string,
  args: readonly string[],
): Promise<string | null> {
  try {
    await runTrusted(interpreter, ["-I", "-S", runner, "trial", ...args], {
      env: {},
      cwd: "/",
      timeout: TRIAL_TIMEOUT_MS,
      ...user,
    });
    return null;
  } catch (error) {
    return describeFault(error);
  }
}

/** The last line of what a failed program printed. */
export function describeFault(error: unknown): string {
  return error instanceof Error ? error.message.trim() : String(error);
}
