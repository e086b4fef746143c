import type { FastifyInstance, onSendHookHandler } from "fastify";
import { PLATFORM_API_PREFIX, createPlatformOpenApi } from "@platform/contract/platform-api/openapi";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import type { ReceiptIssuer } from "@platform/engine/executions/receipt";
import type { Executions } from "@platform/engine/executions/executions";
import { registerDocs } from "@platform/engine/http/docs";
import { prefersDryRun } from "@platform/engine/http/prefer";
import { registerOperations } from "@platform/engine/http/pipeline";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { createReceiptIssuer } from "../access/receipts.ts";
import { createSigningKeys } from "../access/signing-keys.ts";
import type { Identity } from "../accounts/identity.ts";
import { createClientPackages } from "../clients/client-packages.ts";
import type { FeedAnswers } from "../feed/answer-feed.ts";
import { addLimitHeaders } from "../metering/limits.ts";
import { createRateReserve } from "../metering/rate-reserve.ts";
import { createWriteLimits } from "../metering/write-limits.ts";
import type { WriteLimits } from "../metering/write-limits.ts";
import type { Objects } from "../objects/object-store.ts";
import type { HistoryStore } from "../store/history/history.ts";
import type { Stores } from "../store/stores.ts";
import { createAccountHandlers } from "./account.ts";
import { createApplicationHandlers } from "./applications.ts";
import { createAuditHandlers } from "./audit.ts";
import { createAuditStage } from "./audit-stage.ts";
import type { PlatformAuditStage } from "./audit-stage.ts";
import { createBuildReadingHandlers } from "./build-reading.ts";
import { createBuildHandlers } from "./builds.ts";
import { authenticateCaller, authorizeCaller } from "./caller.ts";
import type { CallerDeps, PlatformCaller } from "./caller.ts";
import { readClientAddress } from "../base/client-address.ts";
import { registerDevicePage } from "./device-page.ts";
import { createDataPoolHandlers } from "./data-pools.ts";
import { createEventHandlers } from "./events.ts";
import { createDeviceHandlers } from "./device.ts";
import { createExecutionsHandlers } from "./execution-handlers.ts";
import { createInvitationHandlers } from "./invitations.ts";
import { createJobHandlers } from "./jobs.ts";
import { createMarketplaceHandlers } from "./marketplace.ts";
import type { KeptByPlatform } from "./marketplace.ts";
import { refuseUnstorableText } from "./unstorable-text.ts";
import { createOperatorAccountHandlers } from "./operator-accounts.ts";
import { createOperatorBackendHandlers } from "./operator-backends.ts";
import { createOperatorFigureHandlers } from "./operator-figures.ts";
import { createOperatorInstanceHandlers } from "./operator-instance.ts";
import type { HostFacts } from "./operator-instance.ts";
import { createOrganizationHandlers } from "./organizations.ts";
import { createPoolAccessHandlers } from "./pool-access.ts";
import { createPlanHandlers } from "./plans.ts";
import { createPolicyHandlers } from "./policies.ts";
import { createSessionCookie } from "./session-cookie.ts";
import { createSessionHandlers } from "./session.ts";
import { createSignUpHandlers } from "./sign-up.ts";
import { createServiceHandlers } from "./services.ts";
import { createSubscriptionHandlers } from "./subscriptions.ts";
import { createSecretHandlers, createVariableHandlers } from "./variables.ts";
import { createVariables } from "../secrets/variables.ts";
import type { PlatformSecret } from "../secrets/key-ring.ts";
import type { ContentRoom } from "./store-problems.ts";
import { createUsageHandlers } from "./usage.ts";
import { createUploadGate } from "./upload-gate.ts";
import type { UploadLimits } from "./upload-gate.ts";
import { registerUploads } from "./uploads.ts";
import type { UploadRoutesOptions } from "./uploads.ts";
import type { PartPace } from "../pools/part-pace.ts";
import { createWebhooks } from "../webhooks/webhooks.ts";
import { createWebhookHandlers } from "./webhooks.ts";

/** What the platform API works with. */
export interface PlatformApiDeps extends Omit<Stores, "access">, KeptByPlatform, ContentRoom {
  readonly identity: Identity;
  readonly executions: Executions;
  readonly history: HistoryStore;
  readonly feeds: FeedAnswers;
  readonly objects: Objects;
  /** Origin of the gateway as clients see it, without a final slash. */
  readonly gatewayUrl: string;
  /** Origin of the platform API as browsers see it. */
  readonly apiUrl: string;
  /** The platform's secret: what is sealed is sealed with keys of it. */
  readonly secret: PlatformSecret;
  /** Version of the platform. */
  readonly version: string;
  /** For operators. */
  readonly host: HostFacts;
  /** Size of the largest project archive; default 256 MB. */
  readonly maxArchiveBytes?: number;
  /** Size of the largest file of a data pool. */
  readonly maxFileBytes: number;
  readonly uploadLimits?: UploadLimits;
  /** How slowly uploads in one request may come. */
  readonly uploadPace?: PartPace;
  /** Folder for what has arrived of uploads that can be resumed. */
  readonly partsDirectory: string;
  readonly parts?: Pick<UploadRoutesOptions, "limits" | "patienceMs" | "pace">;
  /** Ids of the organisations whose services may have the priority high. */
  readonly highPriorityOrganisations: ReadonlySet<string>;
  /** Changes of one user in the long run. */
  readonly writesPerSecond: number;
  /** Jobs of one organisation that are started in the long run. */
  readonly startsPerSecond: number;
}

/** For the time that somebody needs at the provider. */
const EXTERNAL_COOKIE = { purpose: "external_sign_in", maxAgeSeconds: 600 };
const DEFAULT_ARCHIVE_BYTES = 256 * MEGABYTE;

const JOBS_PATH = `${PLATFORM_API_PREFIX}/jobs`;

const ROUTES = {
  prefix: PLATFORM_API_PREFIX,
  roomOf: (caller: PlatformCaller | null) => caller?.organisationId ?? "",
};

/** What another API for the same callers shares with the platform API. */
export interface SharedStages {
  /** Authenticates, authorises, limits and records. */
  readonly stages: UploadRoutesOptions["stages"] & Pick<typeof ROUTES, "roomOf">;
  readonly limits: WriteLimits;
  readonly noteStart: PlatformAuditStage["noteStart"];
}

/** The platform API: every operation of PLATFORM_API below `/api`, with its OpenAPI document and docs. */
export async function registerPlatformApi(
  app: FastifyInstance,
  deps: PlatformApiDeps,
): Promise<SharedStages> {
  const document = createPlatformOpenApi();
  const cookie = createSessionCookie(deps.apiUrl);
  const externalCookie = createSessionCookie(deps.apiUrl, EXTERNAL_COOKIE);
  const maxArchiveBytes = deps.maxArchiveBytes ?? DEFAULT_ARCHIVE_BYTES;
  const uploads = createUploadGate(deps.uploadLimits);
  const variables = createVariables(deps.variables, deps.secret);
  const audit = createAuditStage(deps.auditLog);
  const reserve = createRateReserve({ store: deps.rateBuckets });
  const limits = createWriteLimits({ ...deps, reserve });
  const receipts = createJobReceipts(deps);
  const unwatch = deps.identity.watch();
  app.addHook("onClose", async () => unwatch());
  app.addHook("onSend", keepOutOfCaches);
  await registerDocs(app, { prefix: PLATFORM_API_PREFIX, openApi: () => document });
  await registerDevicePage(app, { ...deps, audit });
  const stages = createStages(deps.identity, { audit, cookie, limits });
  await registerUploads(app, describeUploads(deps, stages));
  await registerOperations(app, PLATFORM_API, {
    ...stages,
    ...ROUTES,
    handlers: {
      ...createPeopleHandlers(deps),
      ...createSessionHandlers({ ...deps, cookie, externalCookie, maxArchiveBytes }),
      ...createSignUpHandlers({ identity: deps.identity, cookie }),
      ...createServiceHandlers(deps),
      ...createBuildHandlers({ ...deps, uploads, maxArchiveBytes }),
      ...createBuildReadingHandlers({ ...deps, room: deps.feeds.room }),
      ...createDataPoolHandlers({ ...deps, uploads }),
      ...createPoolAccessHandlers(deps),
      ...createPolicyHandlers(deps),
      ...createPlanHandlers(deps),
      ...createMarketplaceHandlers({ ...deps, clientPackages: createClientPackages(deps.gatewayUrl) }),
      ...createApplicationHandlers(deps),
      ...createSubscriptionHandlers(deps),
      ...createUsageHandlers(deps),
      ...createAuditHandlers(deps.auditLog),
      ...createSecretHandlers(variables),
      ...createVariableHandlers(variables),
      ...createWebhookHandlers({ ...deps, sealed: createWebhooks(deps.webhooks, deps.secret) }),
      ...createExecutionsHandlers({ ...deps, receipts, reserve, noteStart: audit.noteStart }),
      ...createJobHandlers({ ...deps, receipts, limits, noteStart: audit.noteStart, basePath: JOBS_PATH }),
      ...createEventHandlers(deps.feeds),
    },
  });
  return { stages: { ...stages, roomOf: ROUTES.roomOf }, limits, noteStart: audit.noteStart };
}

/** What a browser was answered by its session is not found in its cache by who comes next. */
const keepOutOfCaches: onSendHookHandler = ({ headers }, reply, _payload, done) => {
  const control = reply.getHeader("cache-control");
  if (headers.cookie !== undefined && (control === undefined || control === "private"))
    reply.header("cache-control", "no-store");
  done();
};

function createStages(
  identity: Identity,
  {
    audit,
    cookie,
    limits,
  }: {
    readonly audit: PlatformAuditStage;
    readonly cookie: CallerDeps["cookie"];
    readonly limits: WriteLimits;
  },
): UploadRoutesOptions["stages"] {
  return {
    authenticate: (request, operation) => {
      const onForgery: CallerDeps["onForgery"] = (session) =>
        audit.noteForgery(session, readClientAddress(request));
      const isDownload = operation.answerMode === "content";
      return authenticateCaller({ identity: identity, cookie, onForgery }, request, isDownload);
    },
    authorize: authorizeCaller,
    limit: (caller, rate, reply) => {
      const isRehearsal = rate === "start" && prefersDryRun(reply.request);
      return addLimitHeaders(reply, isRehearsal ? limits.rehearse(caller) : limits.count(caller, rate));
    },
    audit,
    validate: refuseUnstorableText,
  };
}

/** Of users, and of what they are members; of those who run the platform. */
function createPeopleHandlers(deps: PlatformApiDeps) {
  return {
    ...createAccountHandlers(deps.identity),
    ...createOrganizationHandlers(deps.identity),
    ...createInvitationHandlers(deps),
    ...createDeviceHandlers(deps),
    ...createOperatorAccountHandlers(deps.identity),
    ...createOperatorInstanceHandlers(deps),
    ...createOperatorFigureHandlers(deps),
    ...createOperatorBackendHandlers(deps.platformBackends),
  };
}

/** Signed by the platform's gateway, as those of other executions: its keys are published there. */
function createJobReceipts({ signingKeys, secret, versions, gatewayUrl }: PlatformApiDeps): ReceiptIssuer {
  const keys = createSigningKeys({ store: signingKeys, secret });
  return createReceiptIssuer({ keys, versions, issuer: gatewayUrl });
}

function describeUploads(deps: PlatformApiDeps, stages: UploadRoutesOptions["stages"]): UploadRoutesOptions {
  return {
    store: deps.uploads,
    files: deps.poolFiles,
    objects: deps.objects,
    folder: deps.partsDirectory,
    isDiskLow: deps.disk.isLow,
    maxFileBytes: deps.maxFileBytes,
    stages,
    ...deps.parts,
  };
}
