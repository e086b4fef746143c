import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GATEWAY_API } from "@platform/contract/feed";
import { RECEIPT_KEYS_PATH } from "@platform/contract/receipt";
import type { Executions } from "@platform/engine/executions/executions";
import { refuseOtherMethods } from "@platform/engine/http/methods";
import { prefersDryRun } from "@platform/engine/http/prefer";
import { hostedPresenter } from "@platform/engine/http/presenters";
import { registerOperations } from "@platform/engine/http/pipeline";
import type { ServiceApiOptions } from "@platform/engine/http/service-api";
import { registerServiceApi } from "@platform/engine/http/service-api";
import { createTokenIssuer } from "../access/access-tokens.ts";
import { createReceiptIssuer } from "../access/receipts.ts";
import { createSigningKeys } from "../access/signing-keys.ts";
import type { SigningKeys } from "../access/signing-keys.ts";
import { createTokenVerifier } from "../access/token-verifier.ts";
import type { Logger } from "@platform/engine/base/logger";
import type { PlatformSecret } from "../secrets/key-ring.ts";
import type { ActiveAccessKey } from "../store/access-keys.ts";
import type { NewAuditEntry } from "../store/audit/trail.ts";
import type { Stores } from "../store/stores.ts";
import { createAccessKeyAuthenticator } from "../access/access-keys.ts";
import { createAccess, requireLogs, toTarget } from "../access/grants.ts";
import type { Endpoint, KnownApplication, ServiceCaller } from "../access/grants.ts";
import { createFeedHandler } from "../feed/answer-feed.ts";
import type { FeedAnswers } from "../feed/answer-feed.ts";
import { addLimitHeaders } from "../metering/limits.ts";
import { createStartLimits } from "../metering/start-limits.ts";
import type { Starter, StartLimits } from "../metering/start-limits.ts";
import { createRateReserve } from "../metering/rate-reserve.ts";
import { registerServiceDocs } from "./service-docs.ts";
import { registerTokenEndpoint } from "./token-endpoint.ts";

/** What the gateway works with. */
export interface GatewayDeps extends Pick<
  Stores,
  "access" | "accessKeys" | "auditLog" | "signingKeys" | "rateBuckets" | "versions"
> {
  readonly executions: Executions;
  readonly feeds: FeedAnswers;
  /** The platform's secret: the private signing keys are encrypted with a key derived from it. */
  readonly secret: PlatformSecret;
  /** Origin of the gateway as clients see it, without a final slash: issuer and audience of its tokens. */
  readonly gatewayUrl: string;
  /** Starts of one application in the long run. */
  readonly startsPerSecond: number;
  readonly logger: Logger;
}

const PREFIX = "/:serviceKey/:serviceName/:version";
const JWKS_HEADERS = { "cache-control": "public, max-age=60" };

/** Registers the token endpoint, the key set and the service API of every version. Closed with the app. */
export async function registerGateway(app: FastifyInstance, deps: GatewayDeps): Promise<void> {
  const signingKeys = createSigningKeys({ store: deps.signingKeys, secret: deps.secret });
  const keys = createAccessKeyAuthenticator({
    store: deps.accessKeys,
    logger: deps.logger,
    noteRefusal: (key, ip) => deps.auditLog.append(describeWrongSecret(key, ip)),
  });
  const verifier = createTokenVerifier({ keys: signingKeys, issuer: deps.gatewayUrl });
  const access = createAccess({ verifier, store: deps.access });
  const unsubscribe = deps.access.subscribe((change) => {
    // Null: a signing key was retired, or notifications may have been lost.
    if (change === null) signingKeys.forget();
    keys.forgetAll();
    access.forgetAll();
  });
  app.addHook("onClose", async () => unsubscribe());

  await registerTokenEndpoint(app, {
    authenticate: keys.authenticate,
    issue: createTokenIssuer({ keys: signingKeys, issuer: deps.gatewayUrl }),
  });
  publishKeys(app, signingKeys);
  await registerServiceDocs(app, {
    access,
    keys,
    prefix: PREFIX,
    gatewayUrl: deps.gatewayUrl,
    endpointOf: readEndpoint,
  });
  await registerOperations(app, GATEWAY_API, {
    prefix: "",
    authenticate: (request) => access.authorizeApplication(request.headers.authorization),
    handlers: {
      readEvents: createFeedHandler(deps.feeds, ({ applicationId, organisationId }: KnownApplication) => ({
        reader: { kind: "application", id: applicationId },
        organisationId,
      })),
    },
  });
  const limitStarts = createStartLimits({
    reserve: createRateReserve({ store: deps.rateBuckets }),
    startsPerSecond: deps.startsPerSecond,
  });
  await registerServiceApi(app, {
    prefix: PREFIX,
    executions: deps.executions,
    presenter: hostedPresenter,
    receipts: createReceiptIssuer({ ...deps, keys: signingKeys, issuer: deps.gatewayUrl }),
    authenticate: (request) => access.authorize(request.headers.authorization, readEndpoint(request)),
    ...countStarts(limitStarts),
    ownerOf: (caller) => caller.owner,
    targetOf: toTarget,
    requireLogs,
    baseOf: (request) => {
      const { serviceKey, serviceName, version } = readEndpoint(request);
      return `/${serviceKey}/${serviceName}/${version}`;
    },
  });
}

/** Those that access tokens are checked with, and those that receipts are checked with for as long as somebody has them. */
function publishKeys(app: FastifyInstance, keys: SigningKeys): void {
  const sets = { "/.well-known/jwks.json": keys.readJwks, [RECEIPT_KEYS_PATH]: keys.readReceiptJwks };
  for (const [path, read] of Object.entries(sets)) {
    app.get(path, async (_request, reply) => reply.headers(JWKS_HEADERS).send(await read()));
    refuseOtherMethods(app, [{ method: "GET", path }]);
  }
}

/** Nobody is known: whoever has the key's id can send a wrong secret. */
function describeWrongSecret(
  { id, applicationId, organisationId }: ActiveAccessKey,
  ip: string,
): NewAuditEntry {
  return {
    organisationId,
    actorKind: "claimed",
    actorId: null,
    credential: null,
    action: "access-key.use",
    target: [applicationId, id],
    outcome: "refused",
    code: "INVALID_CREDENTIALS",
    ip,
    changes: [],
  };
}

/** What counts the starts of callers. */
function countStarts(
  limits: StartLimits,
): Pick<ServiceApiOptions<ServiceCaller>, "limit" | "countStarts" | "rehearseStarts" | "uncountStart"> {
  return {
    limit: (caller, rate, reply) => (rate === "start" ? limitStart(limits, caller, reply) : undefined),
    countStarts: (caller, request, count) => limits.countMore(toStarter(caller, request), count),
    rehearseStarts: (caller, request, count) => limits.rehearseMore(toStarter(caller, request), count),
    uncountStart: (caller, request) => limits.giveBack(toStarter(caller, request)),
  };
}

function limitStart(limit: StartLimits, caller: ServiceCaller, reply: FastifyReply): void | Promise<void> {
  const starter = toStarter(caller, reply.request);
  const left = prefersDryRun(reply.request) ? limit.rehearse(starter) : limit.count(starter);
  return addLimitHeaders(reply, left);
}

function toStarter({ applicationId, startsPerMinute }: ServiceCaller, request: FastifyRequest): Starter {
  return { applicationId, serviceKey: readEndpoint(request).serviceKey, startsPerMinute };
}

/** Every route below PREFIX has these three parameters. */
function readEndpoint(request: FastifyRequest): Endpoint {
  const { serviceKey, serviceName, version } = request.params as Endpoint;
  return { serviceKey: serviceKey.toLowerCase(), serviceName, version };
}
