import type { FastifyError, FastifyInstance, FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";
import { ACCESS_TOKEN_SCOPE } from "../access/access-tokens.ts";
import { ACCESS_TOKEN_SECONDS } from "../access/signing-keys.ts";
import type { IssueToken } from "../access/access-tokens.ts";
import { readTokenRequest } from "../access/client-credentials.ts";
import { OAuthError } from "../access/oauth-error.ts";
import type { AccessKeyAuthenticator } from "../access/access-keys.ts";
import { createRequestLimit } from "../access/request-limit.ts";
import { nameNetwork, readClientAddress } from "../base/client-address.ts";

/** What the token endpoint works with. */
export interface TokenEndpointDeps {
  readonly authenticate: AccessKeyAuthenticator["authenticate"];
  readonly issue: IssueToken;
}

const FORM = "application/x-www-form-urlencoded";
const MAX_FORM_BYTES = 16 * 1024;
const CACHE_HEADERS = { "cache-control": "no-store", pragma: "no-cache" };
/** Of one address, behind which may be many applications. */
const CLIENT_LIMIT = { burst: 600, perSecond: 100 };
/** Of one access key at one address: whoever knows the id of a key cannot use up what its owner may. A token lasts an hour. */
const KEY_LIMIT = { burst: 60, perSecond: 10 };

/** `POST /token`: client_credentials (RFC 6749 section 4.4). Its errors have the form of OAuth, unlike those of other routes. */
export async function registerTokenEndpoint(app: FastifyInstance, deps: TokenEndpointDeps): Promise<void> {
  const limitClient = createRequestLimit(CLIENT_LIMIT);
  const limitKey = createRequestLimit(KEY_LIMIT);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      FORM,
      { parseAs: "string", bodyLimit: MAX_FORM_BYTES },
      (_request, body, done) => done(null, body),
    );
    scope.setErrorHandler((error: FastifyError, request, reply) => {
      const refusal = toOAuthError(error, request);
      return reply
        .code(refusal.status)
        .headers({ ...CACHE_HEADERS, ...refusal.headers })
        .send(refusal.toBody());
    });
    scope.post("/token", { onRequest: [refuseQuery, requireForm] }, async (request, reply) => {
      const client = nameNetwork(readClientAddress(request));
      refuseBeyond(limitClient(client));
      const form = typeof request.body === "string" ? request.body : "";
      const credentials = readTokenRequest(request.headers.authorization, form);
      refuseBeyond(limitKey(`${client} ${credentials.clientId}`));
      const subject = await deps.authenticate(credentials, readClientAddress(request));
      if (!subject)
        throw new OAuthError(
          "invalid_client",
          "The access key is unknown or revoked, or the secret is wrong.",
        );
      return reply.headers(CACHE_HEADERS).send({
        access_token: await deps.issue(subject),
        token_type: "Bearer",
        expires_in: ACCESS_TOKEN_SECONDS,
        scope: ACCESS_TOKEN_SCOPE,
      });
    });
    scope.route({
      method: scope.supportedMethods.filter((method) => method !== "POST"),
      url: "/token",
      onRequest: async (request) => {
        throw new OAuthError("invalid_request", `${request.method} is not allowed here; use POST.`, {
          status: 405,
          headers: { allow: "POST" },
        });
      },
      handler: async () => undefined,
    });
  });
}

function refuseBeyond(seconds: number): void {
  if (seconds === 0) return;
  throw new OAuthError(
    "rate_limited",
    `Too many requests; try again in ${seconds} seconds. An access token can be used until it expires.`,
    { headers: { "retry-after": String(seconds) } },
  );
}

/** URLs are written to logs and histories: nothing in them is read, and a secret that was in one is known to others. */
async function refuseQuery(request: FastifyRequest): Promise<void> {
  if (!request.url.includes("?")) return;
  throw new OAuthError(
    "invalid_request",
    "Parameters belong in the body, not in the URL. If a secret was in the URL, revoke its access key: URLs are kept in logs.",
  );
}

async function requireForm(request: FastifyRequest): Promise<void> {
  const given = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (given !== FORM) {
    const found = given ? `, not ${given.slice(0, 100)}` : "; the Content-Type header is missing";
    throw new OAuthError("invalid_request", `The body must be ${FORM}${found}.`);
  }
}

function toOAuthError(error: FastifyError, request: FastifyRequest): OAuthError {
  if (error instanceof OAuthError) return error;
  if (error instanceof Problem && error.code === "UNAVAILABLE") {
    return new OAuthError("temporarily_unavailable", error.message, { headers: { "retry-after": "1" } });
  }
  if (error.statusCode === 413) {
    return new OAuthError("invalid_request", `The body is larger than ${MAX_FORM_BYTES} bytes.`, {
      status: 413,
    });
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new OAuthError("invalid_request", "The request cannot be read.");
  }
  request.log.error({ err: error }, "the token endpoint failed");
  return new OAuthError("server_error", `An internal error occurred (request ${request.id}).`);
}
