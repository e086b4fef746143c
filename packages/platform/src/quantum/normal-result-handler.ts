import { Problem } from "@platform/contract/problems";
import type { QUANTUM_JOB_PARTS_API } from "@platform/contract/quantum-api/job-parts";
import { MEGABYTE } from "@platform/engine/base/bytes";
import type { OperationHandlers } from "@platform/engine/http/types";
import { waitAsPreferred } from "@platform/engine/http/wait-as-preferred";
import type { StoredResult } from "@platform/engine/store/execution-store";
import type { PlatformCaller } from "../api/caller.ts";
import type { QuantumJobDeps } from "./job-deps.ts";
import { describeFailure } from "./job-handlers.ts";
import type { KnownFacts } from "./known-facts.ts";
import { createBudget, refuseLarge } from "./normal-result/budget.ts";
import { normalizeResult } from "./normal-result/normalize.ts";

const MOST_BYTES = 4 * MEGABYTE;

/** Handler of results in the normal form. They take turns: each may take as much memory as a large result has. */
export function createNormalResult(
  { executions, searches }: Pick<QuantumJobDeps, "executions" | "searches">,
  known: Pick<KnownFacts, "require">,
): Pick<OperationHandlers<typeof QUANTUM_JOB_PARTS_API, PlatformCaller>, "getNormalQuantumJobResult"> {
  const read = async ({ result, output }: StoredResult): Promise<unknown> => {
    const large = output?.result ?? null;
    if (large === null) return parse(result);
    const { hash, bytes } = large;
    if (bytes > MOST_BYTES) throw refuseLarge(`more than ${MOST_BYTES / MEGABYTE} MB`);
    const parts: Uint8Array[] = [];
    for await (const part of await executions.results.read(hash, { start: 0, end: bytes }))
      parts.push(part as Uint8Array);
    return parse(Buffer.concat(parts));
  };
  return {
    getNormalQuantumJobResult: async ({ caller, params, http, reply }) => {
      const { id, owner, facts } = await known.require(caller, params.id);
      await waitAsPreferred(executions, { id, owner, http, reply });
      const { record, output } = await executions.result(id, owner.id);
      if (output === null) return { status: 200, body: describeFailure(record) };
      if (facts.isDryRun === true) throw refuse("A dry run has an estimate: read the result as it is.");
      const normal = await searches.admit(caller, async () =>
        normalizeResult(await read(output), facts, createBudget()),
      );
      if (normal === null)
        throw refuse("The backend has returned what has a form of its own: read the result as it is.");
      return { status: 200, body: normal };
    },
  };
}

function refuse(detail: string): Problem {
  return new Problem("NO_NORMAL_FORM", detail);
}

/** Null for lists within lists that are deeper than can be read. */
function parse(json: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(json).toString("utf8"));
  } catch {
    return null;
  }
}
