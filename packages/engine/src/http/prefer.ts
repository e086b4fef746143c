import type { FastifyRequest } from "fastify";
import { DRY_RUN } from "@platform/contract/rehearsal";
import { MAX_WAIT_SECONDS } from "@platform/contract/service-api";

/** Seconds of `Prefer: wait=N` (RFC 7240, section 4.3); 0 when it is missing. */
export function readWait(request: FastifyRequest): number {
  const prefer = request.headers["prefer"];
  if (prefer === undefined) return 0;
  const wait = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i.exec(String(prefer));
  return wait === null ? 0 : Math.min(Number(wait[1]), MAX_WAIT_SECONDS);
}

const IS_DRY_RUN = new RegExp(`(?:^|,)[ \\t]*${DRY_RUN}[ \\t]*(?:$|[,;=])`, "i");

/**
 * Whether the request prefers that nothing is started (`Prefer: dry-run`). With any value: who writes one and is not understood would start
 * what was to be tried.
 */
export function prefersDryRun({ headers }: Pick<FastifyRequest, "headers">): boolean {
  const prefer = headers["prefer"];
  return prefer !== undefined && IS_DRY_RUN.test(String(prefer));
}
