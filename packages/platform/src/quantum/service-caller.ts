import type { IncomingHttpHeaders } from "node:http";
import type { Operation } from "@platform/contract/operation";
import { Problem } from "@platform/contract/problems";
import { createCache } from "@platform/engine/base/cache";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import type { ExecutionTokens } from "../access/execution-tokens.ts";
import { isExecutionToken } from "../access/token-kinds.ts";
import type { PlatformCaller } from "../api/caller.ts";
import type { ServiceExecution, ServiceExecutionStore } from "../store/service-executions.ts";

/** An execution is over for its token so long after its end at the latest. */
const FRESH_MS = SECOND;
const MAX_KNOWN = 10_000;

/** What executions are known by. */
export interface ServiceCallerDeps {
  readonly executionTokens: Pick<ExecutionTokens, "read">;
  readonly serviceExecutions: Pick<ServiceExecutionStore, "findRunning">;
}

/** Recognises executions of services by their tokens. */
export interface ServiceCallers {
  /** Null: the request has no token of an execution. @throws Problem UNAUTHENTICATED when that is no attempt that runs */
  readonly authenticate: (headers: IncomingHttpHeaders) => Promise<PlatformCaller | null>;
}

/** The attempt of a token is looked up when the token is used, and for a second it is not looked up again. `now`: milliseconds on any clock. */
export function createServiceCallers(
  { executionTokens, serviceExecutions }: ServiceCallerDeps,
  now = readMonotonic,
): ServiceCallers {
  const known = createCache<ServiceExecution | null>({ ttlMs: FRESH_MS, maxEntries: MAX_KNOWN, now });
  return {
    authenticate: async (headers) => {
      const token = readToken(headers);
      if (token === null) return null;
      const attempt = executionTokens.read(token);
      // Before the cache: nobody fills it with what is no token.
      if (attempt === null) throw refuse("The token of an execution is not one of this platform.");
      const { executionId, attempt: number } = attempt;
      const found = await known.get(`${executionId} ${number}`, () =>
        serviceExecutions.findRunning(executionId, number),
      );
      if (found === null)
        throw refuse("The execution that this token belongs to does not run any more, or runs anew.");
      return toCaller(found);
    },
  };
}

/** Checks that an execution may call the operation at all. @throws Problem FORBIDDEN */
export function requireOpenToServices({ forExecutions }: Pick<Operation, "forExecutions">): void {
  if (forExecutions === true) return;
  throw new Problem("FORBIDDEN", "This is for users, and not for executions of services.");
}

/** The execution that calls; null: a user does. */
export function executionOf({ credential }: Pick<PlatformCaller, "credential">): string | null {
  return credential.kind === "execution" ? credential.executionId : null;
}

/** The organisation of the service: it has the quantum jobs, and its limits count. */
function toCaller({ executionId, organisationId, organisationName, slug }: ServiceExecution): PlatformCaller {
  return {
    userId: organisationId,
    credential: { kind: "execution", executionId },
    membership: { organisationId, organisationName, slug, role: "maintainer", isPersonal: false },
    organisationId,
    actor: { role: "maintainer", scopes: ["quantum"], isOperator: false },
  };
}

/** As of users, in either header. Published clients send both or one. */
function readToken({ authorization, "x-auth-token": plain }: IncomingHttpHeaders): string | null {
  const bearer = authorization === undefined ? undefined : /^bearer +(\S+) *$/iu.exec(authorization)?.[1];
  const tokens = [bearer, plain].filter((token) => typeof token === "string");
  const [token] = tokens;
  if (token === undefined || !tokens.some(isExecutionToken)) return null;
  if (tokens.some((other) => other !== token))
    throw refuse("Authorization and X-Auth-Token carry different tokens; send one of them.");
  return token;
}

function refuse(detail: string): Problem {
  const headers = { "www-authenticate": 'Bearer realm="platform", error="invalid_token"' };
  return new Problem("UNAUTHENTICATED", detail, { headers });
}
