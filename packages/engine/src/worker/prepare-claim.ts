import { Problem } from "@platform/contract/problems";
import type { ProjectKind } from "@platform/contract/project";
import { MINUTE } from "../base/time.ts";
import { untilAborted } from "../base/until-aborted.ts";
import type { Claim, ExecutionStore, InputSource, VersionSource } from "../store/execution-store.ts";
import { ProjectError } from "../project/project-error.ts";
import type {
  ExecutionInput,
  NotStarted,
  Outcome,
  PythonRuntime,
  RunnableVersion,
  StagedInputs,
} from "../python/port/runtime.ts";
import { placeInputs } from "./place-inputs.ts";

/** Longer than any build of an environment may take (15 minutes). An execution's own time limit begins with its user code. */
const PREPARE_WITHIN_MS = 20 * MINUTE;

/** The result of preparing a claim, before it is handed to Python. */
export type Preparation =
  | { readonly kind: "ready"; readonly version: RunnableVersion; readonly input: ExecutionInput }
  /** The cause is the project, or the input that the caller referred to. */
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  /** The cause is the platform, or the version can no longer be prepared here. */
  | { readonly kind: "fault"; readonly scope: NotStarted["scope"]; readonly cause: unknown };

/** Where a claim's code and its input by reference come from, and where that waits. */
export interface PrepareDeps {
  readonly versions: VersionSource;
  readonly inputs: InputSource;
  readonly runtime: Pick<PythonRuntime, "stageInputs">;
  readonly store: Pick<ExecutionStore, "notePreparing">;
  /** Whose executions they are; missing: of services. */
  readonly kind?: ProjectKind;
}

/** Removes the files of an input that is not passed on to Python. */
export function discardPreparation(preparation: Preparation): void {
  if (preparation.kind === "ready") preparation.input.referred?.files.discard();
}

/** Whoever does not pass on what is ready has to discard it. Never rejects, and takes no longer than `signal` or its own time limit allow, whatever the sources do. */
export async function prepareClaim(
  deps: PrepareDeps,
  claim: Claim,
  signal: AbortSignal,
  withinMs = PREPARE_WITHIN_MS,
): Promise<Preparation> {
  const giveUp = new AbortController();
  const pass = () => giveUp.abort(signal.reason);
  signal.addEventListener("abort", pass, { once: true });
  if (signal.aborted) pass();
  const timer = setTimeout(
    () => giveUp.abort(new Error(`The preparation took longer than ${withinMs / MINUTE} minutes.`)),
    withinMs,
  );
  const gathering = gather(deps, claim, giveUp.signal);
  try {
    return await untilAborted(gathering, giveUp.signal);
  } catch (cause) {
    // Given up, it may come to its end all the same.
    gathering.then(discardPreparation, () => undefined);
    if (!(cause instanceof ProjectError) || giveUp.signal.aborted)
      return { kind: "fault", scope: findScope(cause), cause };
    return fail("STARTUP_ERROR", cause.detail);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", pass);
  }
}

/**
 * A failure caused by a version's content, such as requirements that no longer install, or by a store that cannot be asked, such as that of
 * inputs: three such versions must not pause a worker, which starts what needs neither.
 */
function findScope(cause: unknown): NotStarted["scope"] {
  const isOfStore = cause instanceof Problem && cause.code === "UNAVAILABLE";
  const isOfContent = cause instanceof Error && cause.cause instanceof ProjectError;
  return isOfStore || isOfContent ? "version" : "worker";
}

/** What was asked for by reference; `missing` is what is gone, as the subject of a sentence. */
interface Staged {
  readonly files: StagedInputs;
  readonly missing: string | null;
}

async function gather(deps: PrepareDeps, claim: Claim, signal: AbortSignal): Promise<Preparation> {
  const staging = stage(deps, claim);
  try {
    const [prepared, staged] = await Promise.all([deps.versions.prepare(claim.versionId, signal), staging]);
    const version = separate(prepared, deps.kind, claim);
    if (staged === null) return { kind: "ready", version, input: { body: claim.body } };
    const { missing } = staged;
    if (missing === null) {
      await notePreparing(deps, claim, false);
      return {
        kind: "ready",
        version,
        input: { body: claim.body, referred: { pins: claim.references, files: staged.files } },
      };
    }
    staged.files.discard();
    return fail(
      "DATA_REFERENCE_UNAVAILABLE",
      `${missing} is gone, or is not what it was when the execution was started.`,
    );
  } catch (error) {
    // The version is what failed, and the input is there or still on its way.
    Promise.resolve(staging).then(
      (staged) => staged?.files.discard(),
      () => undefined,
    );
    throw error;
  }
}

/**
 * A backend runs circuits of all organisations that may use it, with parsers that nobody has proved: those of one are never in a process
 * that has had another's. Also while it is not shared, since it may be at any moment.
 */
function separate(
  version: RunnableVersion,
  kind: ProjectKind | undefined,
  { owner }: Claim,
): RunnableVersion {
  return kind === "backend" ? { ...version, tenant: owner.organisationId } : version;
}

/**
 * While input is fetched, which may take minutes, the execution goes back if this worker is lost. Not so where nothing is fetched, and the
 * preparation takes a moment: it would cost each of them two writes.
 *
 * @throws Error when the claim is no longer held
 */
async function notePreparing({ store }: PrepareDeps, claim: Claim, isPreparing: boolean): Promise<void> {
  if (!(await store.notePreparing(claim, isPreparing)))
    throw new Problem("UNAVAILABLE", "The claim was lost while it was prepared.");
}

/** Null, without waiting, where nothing is passed by reference. */
function stage(deps: PrepareDeps, claim: Claim): Promise<Staged> | null {
  const { inputs, runtime } = deps;
  const { references } = claim;
  return Object.keys(references).length === 0 ? null : placeAll();

  async function placeAll(): Promise<Staged> {
    await notePreparing(deps, claim, true);
    let missing: string | null = null;
    const files = await runtime.stageInputs(async (area) => {
      missing = await placeInputs(inputs, references, area);
    });
    return { files, missing };
  }
}

function fail(code: "STARTUP_ERROR" | "DATA_REFERENCE_UNAVAILABLE", detail: string): Preparation {
  return { kind: "outcome", outcome: { status: "FAILED", code, detail } };
}
