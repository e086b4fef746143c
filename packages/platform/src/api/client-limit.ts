import type { FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";
import type { ProblemCode } from "@platform/contract/problems";
import { createRequestLimit } from "../access/request-limit.ts";
import type { LimitOptions } from "../access/request-limit.ts";
import { nameNetwork, readClientAddress } from "../base/client-address.ts";

/**
 * Counts a request by its client, of an operation that needs no credentials; each process counts by itself.
 *
 * @throws Problem with `Retry-After`
 */
export type ClientLimit = (request: FastifyRequest) => void;

/** Limits the requests of each client. `code`: of those that are too many; default RATE_LIMITED. */
export function createClientLimit(options: LimitOptions, code: ProblemCode = "RATE_LIMITED"): ClientLimit {
  const limit = createRequestLimit(options);
  return (request) => {
    const seconds = limit(nameNetwork(readClientAddress(request)));
    if (seconds === 0) return;
    throw new Problem(code, `Too many requests; try again in ${seconds} seconds.`, {
      headers: { "retry-after": String(seconds) },
    });
  };
}
