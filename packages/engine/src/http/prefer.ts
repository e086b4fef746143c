import type { FastifyRequest } from "fastify";
import { MAX_WAIT_SECONDS } from "@platform/contract/service-api";

/** Seconds of `Prefer: wait=N` (RFC 7240, section 4.3); 0 when it is missing. */
export function readWait(request: FastifyRequest): number {
  const prefer = request.headers["prefer"];
  if (prefer === undefined) return 0;
  const wait = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i.exec(String(prefer));
  return wait === null ? 0 : Math.min(Number(wait[1]), MAX_WAIT_SECONDS);
}
