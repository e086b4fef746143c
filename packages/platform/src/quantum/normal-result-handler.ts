import { Problem } from "@platform/contract/problems";
import type { QUANTUM_JOB_PARTS_API } from "@platform/contract/quantum-api/job-parts";
import { MEGABYTE } from "@platform/engine/base/bytes";
import type { OperationHandlers } from "@platform/engine/http/types";
import { waitAsPreferred } from "@platform/engine/http/wait-as-preferred";
import type { StoredResult } from "@platform/engine/store/execution-store";
import type { PlatformCaller } from "../api/caller.ts";
import { createFairGate } from "../base/fair-gate.ts";
import type { QuantumJobDeps } from "./job-deps.ts";
import { describeFailure } from "./job-handlers.ts";
import type { KnownFacts } from "./known-facts.ts";
import { createBudget, refuseLarge } from "./normal-result/budget.ts";
import { normalizeResult } from "./normal-result/normalize.ts";

const MOST_BYTES = 4 * MEGABYTE;

/** Of those that are read or counted: each has as much memory as a large result. */
const READING = { what: "results in the normal form", inAll: 16, perSharer: 4, waiting: 20 };

/** Handler of results in the normal form. They are counted in turns with lists, and read before that: a store that is slow would hold the turns of lists. */
export function createNormalResult(
  { executions, searches }: Pick<QuantumJobDeps, "executions" | "searches">,
  known: Pick<KnownFacts, "require">,
): Pick<OperationHandlers<typeof QUANTUM_JOB_PARTS_API, PlatformCaller>, "getNormalQuantumJobResult"> {
  const reading = createFairGate(READING);
  const read = async ({ result, output }: StoredResult): Promise<Uint8Array> => {
    const large = output?.result ?? null;
    if (large === null) return result;
    const { hash, bytes } = large;
    if (bytes > MOST_BYTES) throw refuseLarge(`more than ${MOST_BYTES / MEGABYTE} MB`);
    const parts: Uint8Array[] = [];
    for await (const part of await executions.results.read(hash, { start: 0, end: bytes }))
      parts.push(part as Uint8Array);
    return Buffer.concat(parts);
  };
  return {
    getNormalQuantumJobResult: async ({ caller, params, http, reply }) => {
      const { id, owner, facts } = await known.require(caller, params.id);
      await waitAsPreferred(executions, { id, owner, http, reply });
      const { record, output } = await executions.result(id, owner.id);
      if (output === null) return { status: 200, body: describeFailure(record) };
      if (facts.isDryRun === true) throw refuse("A dry run has an estimate: read the result as it is.");
      const normal = await reading.admit(caller, async () => {
        const result = await read(output);
        return await searches.admit(caller, () => normalizeResult(parse(result), facts, createBudget()));
      });
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
