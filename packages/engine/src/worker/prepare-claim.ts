import { MINUTE } from "../base/time.ts";
import { untilAborted } from "../base/until-aborted.ts";
import type { Claim, InputSource, VersionSource } from "../store/execution-store.ts";
import { ProjectError } from "../project/project-error.ts";
import type { ExecutionInput, NotStarted, Outcome, RunnableVersion } from "../python/port/runtime.ts";

/** Longer than any build of an environment may take (15 minutes). An execution's own time limit begins with its user code. */
const PREPARE_WITHIN_MS = 20 * MINUTE;

/** The result of preparing a claim, before it is handed to Python. */
export type Preparation =
  | { readonly kind: "ready"; readonly version: RunnableVersion; readonly input: ExecutionInput }
  /** The cause is the project, or the input that the caller referred to. */
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  /** The cause is the platform, or the version can no longer be prepared here. */
  | { readonly kind: "fault"; readonly scope: NotStarted["scope"]; readonly cause: unknown };

/** Where a claim's code and its input by reference come from. */
export interface PrepareDeps {
  readonly versions: VersionSource;
  readonly inputs: InputSource;
}

/** Never rejects, and takes no longer than `signal` or its own time limit allow, whatever the sources do. */
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
  try {
    return await untilAborted(gather(deps, claim, giveUp.signal), giveUp.signal);
  } catch (cause) {
    if (!(cause instanceof ProjectError) || giveUp.signal.aborted)
      return { kind: "fault", scope: findScope(cause), cause };
    return fail("STARTUP_ERROR", cause.detail);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", pass);
  }
}

/** A failure caused by a version's content, such as requirements that no longer install: three such versions must not pause a worker. */
function findScope(cause: unknown): NotStarted["scope"] {
  return cause instanceof Error && cause.cause instanceof ProjectError ? "version" : "worker";
}

async function gather(
  { versions, inputs }: PrepareDeps,
  claim: Claim,
  signal: AbortSignal,
): Promise<Preparation> {
  const read = async (key: "data" | "params") => {
    const reference = claim.references[key];
    return reference === undefined ? undefined : inputs.read(reference, claim.owner);
  };
  const [version, data, params] = await Promise.all([
    versions.prepare(claim.versionId, signal),
    read("data"),
    read("params"),
  ]);
  if (data === null || params === null)
    return fail(
      "DATA_REFERENCE_UNAVAILABLE",
      `The file that ${data === null ? "dataRef" : "paramsRef"} names is gone.`,
    );
  const input = { body: claim.body, ...(data ? { data } : {}), ...(params ? { params } : {}) };
  return { kind: "ready", version, input };
}

function fail(code: "STARTUP_ERROR" | "DATA_REFERENCE_UNAVAILABLE", detail: string): Preparation {
  return { kind: "outcome", outcome: { status: "FAILED", code, detail } };
}
