import type { JobState } from "@platform/contract/quantum-api/jobs";
import { readTime } from "@platform/engine/http/paging";
import type { PlatformCaller } from "../api/caller.ts";
import type { QuantumJobDeps } from "./job-deps.ts";
import { toFilter, toQuantumJob } from "./job-view.ts";
import { readPage, toPage } from "./pages.ts";

/** Which jobs are wanted, and which page of them. */
interface Wanted {
  readonly page?: number;
  readonly size?: number;
  readonly backendId?: string;
  readonly status?: JobState;
  readonly tag?: readonly string[];
  readonly name?: string;
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly sessionId?: string;
  readonly serviceExecutionId?: string | undefined;
}

/** A page of the jobs that match, newest first. @throws Problem INVALID_INPUT for what is no time, RATE_LIMITED */
export async function listJobs(
  { quantumJobs, searches }: Pick<QuantumJobDeps, "quantumJobs" | "searches">,
  caller: PlatformCaller,
  query: Wanted,
) {
  const { backendId, status, tag: tags, name, sessionId, serviceExecutionId } = query;
  const filter = {
    backendId,
    tags,
    sessionId: sessionId?.toLowerCase(),
    serviceExecutionId: serviceExecutionId?.toLowerCase(),
    name,
    createdAfter: readTime("createdAfter", query.createdAfter),
    createdBefore: readTime("createdBefore", query.createdBefore),
    ...(status === undefined ? {} : toFilter(status)),
  };
  const { items, total } = await searches.admit(caller, () =>
    quantumJobs.list(caller.organisationId, filter, readPage(query)),
  );
  return toPage(
    items.map((item) => toQuantumJob(item, item.facts)),
    total,
    query,
  );
}
