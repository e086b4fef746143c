import type { FastifyInstance, FastifyRequest } from "fastify";
import { createServiceOpenApi } from "@platform/contract/service-openapi";
import { registerDocs } from "@platform/engine/http/docs";
import { readBasicCredentials } from "../access/client-credentials.ts";
import { OAuthError } from "../access/oauth-error.ts";
import type { AccessKeyAuthenticator } from "../access/access-keys.ts";
import type { Access, Endpoint, ServiceCaller } from "../access/grants.ts";
import { readClientAddress } from "../base/client-address.ts";
import { unauthenticated } from "../access/bearer.ts";

/** What the documentation of versions works with. */
export interface ServiceDocsDeps {
  readonly access: Access;
  readonly keys: AccessKeyAuthenticator;
  /** Path pattern of a version. */
  readonly prefix: string;
  /** Origin of the gateway as clients see it, without a final slash. */
  readonly gatewayUrl: string;
  readonly endpointOf: (request: FastifyRequest) => Endpoint;
}

const CALLER = "caller";

/**
 * Registers `openapi.json` and `docs` of every version, for applications that may call it. A browser cannot send a bearer
 * token by itself, so the access key is accepted by HTTP Basic as well: the browser then asks for it.
 */
export async function registerServiceDocs(app: FastifyInstance, deps: ServiceDocsDeps): Promise<void> {
  await app.register(async (scope) => {
    scope.decorateRequest(CALLER, null);
    scope.addHook("onRequest", async (request) => {
      request.setDecorator(CALLER, await authorizeReader(deps, request));
    });
    await registerDocs(scope, {
      prefix: deps.prefix,
      openApi: (request) => {
        const caller = request.getDecorator<ServiceCaller>(CALLER);
        const { serviceKey, serviceName, version } = deps.endpointOf(request);
        return createServiceOpenApi({
          name: serviceName,
          version,
          description: `Starts executions of the service ${serviceName} in version ${version}, follows them and fetches their results.`,
          server: {
            url: `${deps.gatewayUrl}/${serviceKey}/${serviceName}/${version}`,
            description: "Endpoint of this version",
          },
          inputSchema: caller.version.inputSchema,
          tokenUrl: `${deps.gatewayUrl}/token`,
        });
      },
    });
  });
}

async function authorizeReader(deps: ServiceDocsDeps, request: FastifyRequest): Promise<ServiceCaller> {
  const { authorization } = request.headers;
  if (authorization !== undefined && !/^basic /i.test(authorization)) {
    return await deps.access.authorize(authorization, deps.endpointOf(request));
  }
  const subject =
    authorization === undefined
      ? null
      : await deps.keys.authenticate(readBasic(authorization), readClientAddress(request));
  if (!subject) throw askForKey();
  return await deps.access.authorizeSubject(subject, deps.endpointOf(request));
}

function readBasic(authorization: string): ReturnType<typeof readBasicCredentials> {
  try {
    return readBasicCredentials(authorization);
  } catch (error) {
    throw error instanceof OAuthError ? askForKey() : error;
  }
}

function askForKey(): Error {
  return unauthenticated(
    null,
    "Send an access token as Authorization: Bearer, or key id and secret of an access key by HTTP Basic.",
    'Basic realm="services", charset="UTF-8"',
  );
}
