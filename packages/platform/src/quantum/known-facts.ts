import { Problem } from "@platform/contract/problems";
import { createCache } from "@platform/engine/base/cache";
import { toJobOwner } from "@platform/engine/store/owner";
import type { Owner } from "@platform/engine/store/owner";
import type { PlatformCaller } from "../api/caller.ts";
import type { JobFacts, QuantumJobStore } from "../store/quantum-jobs.ts";
import { executionOf } from "./service-caller.ts";

/** Facts never change; jobs that are waited for are asked for over and over. */
const FACTS = { maxEntries: 2_000 };

/** What is kept of jobs, without a query where it was read before. */
export interface KnownFacts {
  /** A job of the caller's organisation, by the id that was given. @throws Problem EXECUTION_NOT_FOUND */
  readonly require: (
    caller: PlatformCaller,
    given: string,
  ) => Promise<{ readonly id: string; readonly facts: JobFacts; readonly owner: Owner }>;
  /** A job was started. */
  readonly note: (caller: PlatformCaller, id: string, facts: JobFacts) => void;
}

const NO_JOB = "There is no such quantum job.";

/** One per process. */
export function createKnownFacts(quantumJobs: Pick<QuantumJobStore, "findFacts">): KnownFacts {
  const known = createCache<JobFacts>(FACTS);
  return {
    require: async (caller, given) => {
      const { organisationId } = caller;
      const id = given.toLowerCase();
      const facts = await known.get(`${organisationId} ${id}`, async () => {
        const found = await quantumJobs.findFacts(organisationId, id);
        if (found === null) throw new Problem("EXECUTION_NOT_FOUND", NO_JOB);
        return found;
      });
      const executionId = executionOf(caller);
      // An execution sees its own jobs only: others of the organisation are of other callers.
      if (executionId !== null && facts.serviceExecutionId !== executionId)
        throw new Problem("EXECUTION_NOT_FOUND", NO_JOB);
      return { id, facts, owner: toJobOwner(organisationId) };
    },
    note: ({ organisationId }, id, facts) => known.set(`${organisationId} ${id}`, facts),
  };
}
