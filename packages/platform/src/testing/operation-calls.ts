import { randomUUID } from "node:crypto";
import { DAY } from "@platform/engine/base/time";
import type { Operation } from "@platform/contract/operation";
import { createTestClient, createTestPlan, createTestService, createTestUser } from "./fixtures.ts";
import type { TestUser } from "./fixtures.ts";
import type { TestInstance } from "./instance.ts";
import { createWebhookId } from "../store/webhooks/webhooks.ts";

/** Names and values of parameters. */
export type Texts = Readonly<Record<string, string>>;

/** Everything that an organisation owns, by what paths, queries and bodies call it. */
export interface Property {
  readonly owner: TestUser;
  readonly params: Readonly<Record<string, Texts>>;
  /** What names a revoked invitation in its link. */
  readonly links: Texts;
  readonly references: Texts;
}

/** A call of an operation: with these parameters and headers. */
export interface OperationCall {
  readonly id: string;
  readonly operation: Operation;
  readonly property: Property;
  readonly params: Texts;
  readonly headers: Readonly<Record<string, string>>;
}

/** Calls an operation with a body that its schema accepts. */
export async function callOperation({ api }: TestInstance, call: OperationCall) {
  const { id, operation, property, params, headers } = call;
  const query = new URLSearchParams(
    operation.query && (id === "startJob" || id === "startJobBatch")
      ? { serviceKey: property.references["serviceKey"] ?? "" }
      : {},
  );
  const body = sampleBody(id, operation, property.references);
  const type = operation.bodyMode === "stream" ? "application/zip" : "application/json";
  const request = {
    method: operation.method,
    url: `/api${fillPath(operation.path, params)}?${query.toString()}`,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": type }) },
    ...(body === undefined ? {} : { payload: body }),
  };
  if (operation.answerMode !== "events") return await api.inject(request);
  // Goes on for as long as its execution does, and has no body to read; a refusal has.
  const stream = await api.inject({ ...request, payloadAsStream: true });
  stream.stream().destroy();
  return stream.statusCode === 200 ? stream : await api.inject(request);
}

const NO_LINK = "x".repeat(43);

/** First segment of a path -> what its parameters are. A new segment has to be named here. */
function listParams(ids: {
  key: string;
  application: string;
  keyId: string;
  subscription: string;
  job: string;
  batch: string;
  token: string;
  session: string;
  organisation: string;
  user: string;
  invitation: string;
  pool: string;
  file: string;
  partner: string;
  webhook: string;
  delivery: string;
  schedule: string;
}) {
  return {
    services: {
      key: ids.key,
      version: "1.0.0",
      planId: "basic",
      name: "API_TOKEN",
      subscriptionId: ids.subscription,
    },
    secrets: { name: "API_TOKEN" },
    variables: { name: "API_MODE" },
    marketplace: { key: ids.key, version: "1.0.0", language: "python" },
    applications: {
      id: ids.application,
      keyId: ids.keyId,
      webhookId: ids.webhook,
      deliveryId: ids.delivery,
    },
    subscriptions: { id: ids.subscription },
    schedules: { id: ids.schedule },
    "data-pools": {
      id: ids.pool,
      file: ids.file,
      organizationId: ids.partner,
      applicationId: ids.application,
    },
    jobs: { id: ids.job, file: "tour.csv", batchId: ids.batch },
    executions: { id: ids.job, file: "tour.csv" },
    "personal-access-tokens": { id: ids.token },
    sessions: { id: ids.session },
    organizations: { id: ids.organisation },
    members: { userId: ids.user },
    operator: { userId: ids.user, workerId: "nobody's", backendId: "sim.nobody" },
    invitations: { invitation: ids.invitation },
    // Nobody's: who has the link of a user is this user.
    "password-resets": { token: NO_LINK },
    "email-verifications": { token: NO_LINK },
  };
}

/** Fills a new organisation with one thing of each kind. */
export async function createProperty(instance: TestInstance): Promise<Property> {
  const owner = await createTestUser(instance);
  const service = await createTestService(instance, owner);
  await createTestPlan(instance, owner, service);
  const client = await createTestClient(instance, owner, service);
  const headers = { authorization: `Bearer ${owner.token}`, "content-type": "application/json" };
  const job = await instance.api.inject({
    method: "POST",
    url: `/api/jobs?serviceKey=${service.serviceKey}`,
    headers,
    payload: "{}",
  });
  const batch = await instance.api.inject({
    method: "POST",
    url: `/api/jobs/batch?serviceKey=${service.serviceKey}`,
    headers,
    payload: '{"items":[{}]}',
  });
  const [token] = await instance.identity.listPersonalAccessTokens(owner.userId, { limit: 1, offset: 0 });
  if (!token) throw new Error("The owner has no token.");
  await instance.identity.createSession(owner.userId, { userAgent: "test", ip: "192.0.2.1" });
  const [session] = await instance.identity.listSessions(owner.userId, { limit: 1, offset: 0 });
  if (!session) throw new Error("The owner has no session.");
  const { id: jobId }: { id: string } = job.json();
  const { id: batchId }: { id: string } = batch.json();
  const [invitation, revoked] = await createInvitations(instance, owner);
  await createVariables(instance, owner, service.serviceKey);
  const { pool, file, partner } = await createPool(instance, owner, client.applicationId);
  const { webhook, delivery } = await createWebhook(instance, owner, client.applicationId);
  const schedule = await createSchedule(instance, owner, service.serviceKey);
  return {
    owner,
    params: listParams({
      key: service.serviceKey,
      application: client.applicationId,
      keyId: client.keyId,
      subscription: client.subscriptionId,
      job: jobId,
      batch: batchId,
      token: token.id,
      session: session.id,
      organisation: owner.organisationId,
      user: owner.userId,
      invitation: invitation.id,
      pool,
      file,
      partner,
      webhook,
      delivery,
      schedule,
    }),
    links: { invitation: revoked.token },
    references: {
      serviceKey: service.serviceKey,
      applicationId: client.applicationId,
      email: owner.email,
      password: owner.password,
    },
  };
}

/** A secret and a variable of the service, and of the organisation. */
async function createVariables({ stores }: TestInstance, owner: TestUser, serviceKey: string): Promise<void> {
  const { organisationId, userId: by } = owner;
  const secret = { kind: "secret", sealed: "sealed", keyId: "test", by, limit: 10 } as const;
  const variable = { kind: "variable", value: "value of a variable", by, limit: 10 } as const;
  for (const key of [serviceKey, null])
    for (const [name, value] of [
      ["API_TOKEN", secret],
      ["API_MODE", variable],
    ] as const)
      await stores.variables.put({ organisationId, serviceKey: key }, name, value);
}

/** A webhook with a message. */
async function createWebhook({ stores }: TestInstance, owner: TestUser, applicationId: string) {
  const { organisationId, userId: createdBy } = owner;
  const scope = { organisationId, applicationId };
  const webhook = createWebhookId();
  const secret = { sealed: "sealed", keyId: "test" };
  const url = "https://example.org/hook";
  await stores.webhooks.create(scope, {
    id: webhook,
    url,
    events: ["execution.failed"],
    ...secret,
    createdBy,
  });
  const delivery = await stores.deliveries.addTest({ ...scope, webhookId: webhook }, () => "{}");
  if (delivery === null) throw new Error("There is no webhook.");
  return { webhook, delivery: delivery.id };
}

/** A schedule of jobs of the service. */
async function createSchedule({ stores }: TestInstance, owner: TestUser, serviceKey: string) {
  const { organisationId, userId: by } = owner;
  const times = { cron: "@daily", timeZone: "UTC", overlap: "skip" } as const;
  const given = { name: "daily", ...times, body: "{}", serviceKey, version: null, subscriptionId: null };
  const author = { by, enabled: true, findNext: () => Date.now() + DAY };
  const created = await stores.schedules.create(organisationId, given, author);
  if (created === "name taken") throw new Error("The name of the first schedule is taken.");
  return created.id;
}

/** A data pool with a file, which another organisation and an application may read. */
async function createPool(instance: TestInstance, owner: TestUser, applicationId: string) {
  const { api, stores } = instance;
  const { organisationId, userId: createdBy, token } = owner;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const made = await api.inject({
    method: "POST",
    url: "/api/data-pools",
    headers,
    payload: { name: "Data" },
  });
  const { id: pool }: { id: string } = made.json();
  const url = `/api/data-pools/${pool}/files/data.json`;
  const stored = await api.inject({ method: "PUT", url, headers, payload: "{}" });
  const { fileId: file }: { fileId: string } = stored.json();
  const { organisationId: partner } = await createTestUser(instance);
  const key = { organisationId, poolId: pool };
  await stores.poolShares.put(key, { organisationId: partner, role: "viewer", createdBy });
  await stores.poolGrants.put(key, { applicationId, access: "read", createdBy });
  return { pool, file, partner };
}

/** An open invitation and a revoked one. */
async function createInvitations({ identity }: TestInstance, { organisationId, userId }: TestUser) {
  const wish = { organisationId, invitedBy: userId, role: "viewer" } as const;
  const [open, revoked] = [await identity.createInvitation(wish), await identity.createInvitation(wish)];
  await identity.revokeInvitation(organisationId, revoked.id);
  return [open, revoked] as const;
}

const LINK_PATHS = new Set([
  "/invitations/{invitation}",
  "/invitations/{invitation}/accept",
  "/invitations/{invitation}/decline",
]);

/** The parameters of an operation that name what the organisation owns. */
export function ownParams(property: Property, operation: Operation): Texts {
  const names = Object.keys(operation.params?.properties ?? {});
  if (names.length === 0) return {};
  // Whoever has an open link may use it.
  if (LINK_PATHS.has(operation.path) && operation.method !== "DELETE") return property.links;
  const segment = operation.path.split("/")[1] ?? "";
  const known = {
    ...property.params[segment],
    ...(operation.path.includes("/variables/") ? property.params["variables"] : {}),
  };
  return Object.fromEntries(
    names.map((name) => {
      const value = known[name];
      if (value === undefined)
        throw new Error(`Say in operation-calls.ts what ${name} of ${operation.path} is.`);
      return [name, value];
    }),
  );
}

function sampleBody(id: string, operation: Operation, references: Texts): string | undefined {
  if (operation.bodyMode === "stream") return "PK";
  if (operation.bodyMode === "file") return "{}";
  if (!operation.body) return undefined;
  const samples: Readonly<Record<string, unknown>> = {
    createPersonalAccessToken: { name: "mine", scopes: ["read"] },
    putMe: { name: "mine" },
    startDeviceLogin: { client_name: "mine" },
    finishDeviceLogin: { device_code: "not this one" },
    signUp: { name: "new", email: `${randomUUID()}@example.org`, password: "a long password" },
    requestPasswordReset: { email: `${randomUUID()}@example.org` },
    finishExternalSignIn: { parameters: "code=x&state=y" },
    resetPassword: { password: "a new long password" },
    createOrganization: { name: "mine" },
    putOrganization: { name: "mine" },
    putMember: { role: "owner" },
    createInvitation: { role: "viewer" },
    signIn: { email: references["email"], password: references["password"] },
    changePassword: { currentPassword: "not this one", newPassword: "a new long password" },
    createService: { name: `mine-${Math.random().toString(36).slice(2)}` },
    putService: { logs: "provider" },
    putPolicy: { revision: 0, policy: { timeoutSeconds: 60 } },
    publishService: { scope: "internal" },
    putListing: { title: "Mine" },
    putPlan: { name: "Basic" },
    putSubscription: { status: "PAUSED" },
    endSubscription: { reason: "It is not needed any more." },
    createApplication: { name: "mine" },
    createDataPool: { name: `mine-${Math.random().toString(36).slice(2)}` },
    putDataPool: { description: "mine" },
    putPoolShare: { role: "maintainer" },
    putPoolGrant: { access: "write" },
    renamePoolFile: { name: "mine.json" },
    putApplication: { name: "mine" },
    createAccessKey: { name: "mine" },
    rotateAccessKey: { oldEndsInHours: 24 },
    createSubscription: {
      serviceKey: references["serviceKey"],
      applicationId: references["applicationId"],
    },
    createWebhook: { url: "https://example.org/hook" },
    putWebhook: { isPaused: true },
    startJobBatch: { items: [{}] },
    rotateWebhookSecret: { oldEndsInHours: 0 },
    createSchedule: {
      name: `nightly-${Math.random().toString(36).slice(2)}`,
      cron: "@daily",
      target: { serviceKey: references["serviceKey"] },
    },
    putSchedule: { overlap: "queue" },
    putSecret: { value: "a value that is long" },
    putOrganizationSecret: { value: "a value that is long" },
    putVariable: { value: "another value" },
    putOrganizationVariable: { value: "another value" },
    putUser: { disabled: false },
    createResetLink: {},
    putPlatformBackend: { serviceKey: references["serviceKey"] },
    startJob: {},
    startSubscriptionExecution: {},
    cancelExecutions: { ids: ["0198c1de-7a53-7000-8000-000000000000"] },
  };
  if (!Object.hasOwn(samples, id)) throw new Error(`Say in operation-calls.ts what the body of ${id} is.`);
  return JSON.stringify(samples[id]);
}

function fillPath(path: string, params: Texts): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "");
}
