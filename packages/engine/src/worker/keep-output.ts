import { isRecord } from "../base/json.ts";
import { MINUTE } from "../base/time.ts";
import { untilAborted } from "../base/until-aborted.ts";
import type { Logger } from "../base/logger.ts";
import type { JsonCheck } from "../json-check/json-check.ts";
import { MEASURED, READ, listContents } from "../python/port/run-output.ts";
import type { Metadata, Outcome, RunOutput } from "../python/port/runtime.ts";
import type { Claim } from "../store/execution-store.ts";
import { keepTrying } from "../base/keep-trying.ts";

/** What the output of runs is kept with. */
export interface KeepDeps {
  /** Missing: no run returns anything in files. */
  readonly jsonCheck?: Pick<JsonCheck, "ask">;
  readonly logger: Logger;
  /** How long a result waits for the check of its JSON; default twenty minutes. */
  readonly checkForMs?: number;
  /** How long keeping is tried; default twenty minutes. */
  readonly keepForMs?: number;
}

/** The largest result is read in some seconds, and others come before it. A disk that does not answer must not keep an execution running for ever. */
const CHECK_FOR_MS = 20 * MINUTE;
/** Longer than equal content can be marked for removal, which is a quarter of an hour. A store that is away for longer has lost more than a result. */
const KEEP_FOR_MS = 20 * MINUTE;

type Succeeded = Extract<Outcome, { readonly status: "SUCCEEDED" }>;

/**
 * Keeps what a run returned in files, before the end that names it is written: an end that is not written leaves content without a row, which is
 * removed. Returns the outcome to write; null where the claim was lost meanwhile. Never rejects.
 */
export async function keepOutput(
  deps: KeepDeps,
  { claim, outcome }: { readonly claim: Claim; readonly outcome: Outcome },
  isHeld: () => boolean,
): Promise<Outcome | null> {
  if (outcome.status !== "SUCCEEDED" || outcome.output === undefined) return outcome;
  const { output } = outcome;
  try {
    const fault = await findFault(deps, claim, output);
    if (fault !== null) return fail(outcome, "INVALID_RESULT", `The result is not JSON: ${fault}.`);
    const isKept = await keepTrying(() => keepAll(output), isHeld, deps.keepForMs ?? KEEP_FOR_MS);
    return isKept ? outcome : null;
  } catch (error) {
    deps.logger.error({ err: error, executionId: claim.id }, "the result of an execution could not be kept");
    return fail(
      outcome,
      "RESULT_NOT_STORED",
      "The result could not be stored: it could not be checked, or the platform's store did not take it. Start the execution again later.",
    );
  }
}

/** What the text is instead of one JSON object; null: it is one. */
async function findFault({ jsonCheck, checkForMs }: KeepDeps, { owner }: Claim, { result }: RunOutput) {
  if (result === null) return null;
  if (jsonCheck === undefined) throw new Error("nothing can tell whether a large result is JSON");
  const asked = jsonCheck.ask(owner.organisationId, { path: result.path, pointer: [] });
  const form = await untilAborted(asked, AbortSignal.timeout(checkForMs ?? CHECK_FOR_MS));
  return form.form === "other" ? form.detail : null;
}

async function keepAll(output: RunOutput): Promise<boolean> {
  for (const content of listContents(output)) await content.keep();
  return true;
}

function fail({ metadata, cpuSeconds }: Succeeded, code: string, detail: string): Outcome {
  return {
    status: "FAILED",
    code,
    detail,
    ...(metadata === null ? {} : { metadata: pickMeasured(metadata) }),
    ...(cpuSeconds === undefined ? {} : { cpuSeconds }),
  };
}

/** What the platform itself has added to them. */
function pickMeasured(metadata: Uint8Array): Metadata {
  const parsed: unknown = JSON.parse(Buffer.from(metadata).toString());
  if (!isRecord(parsed)) return {};
  return Object.fromEntries(
    [MEASURED, READ].flatMap((name) => (name in parsed ? [[name, parsed[name]]] : [])),
  );
}
