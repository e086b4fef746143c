import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Operation } from "@platform/contract/operation";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import {
  createTestClient,
  createTestMember,
  createTestService,
  createTestUser,
} from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";

type Texts = Readonly<Record<string, string>>;

/** Everything that the first organisation owns, by what paths, queries and bodies call it. */
interface Property {
  readonly owner: TestUser;
  readonly params: Readonly<Record<string, Texts>>;
  readonly references: Texts;
}

interface Call {
  readonly params: Texts;
  readonly token?: string;
  readonly organisationId?: string;
}

const ALL_MEMBERS = ["viewer", "maintainer", "owner"];
const EDITORS = ["maintainer", "owner"];
const OWNERS = ["owner"];

/** Who may do what: written down here once, by hand, and nowhere taken from the code. A new operation has to be added. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  getMe: ALL_MEMBERS,
  listOrganizations: ALL_MEMBERS,
  listPersonalAccessTokens: ALL_MEMBERS,
  createPersonalAccessToken: ALL_MEMBERS,
  revokePersonalAccessToken: ALL_MEMBERS,
  listServices: ALL_MEMBERS,
  createService: EDITORS,
  getService: ALL_MEMBERS,
  publishService: EDITORS,
  listVersions: ALL_MEMBERS,
  createVersion: EDITORS,
  getBuild: ALL_MEMBERS,
  retireVersion: EDITORS,
  listApplications: ALL_MEMBERS,
  createApplication: EDITORS,
  getApplication: ALL_MEMBERS,
  deleteApplication: OWNERS,
  listAccessKeys: ALL_MEMBERS,
  createAccessKey: EDITORS,
  revokeAccessKey: EDITORS,
  listSubscriptions: ALL_MEMBERS,
  createSubscription: EDITORS,
  getSubscription: ALL_MEMBERS,
  cancelSubscription: EDITORS,
  startJob: EDITORS,
  listJobs: ALL_MEMBERS,
  getJob: ALL_MEMBERS,
  getJobResult: ALL_MEMBERS,
  getJobLog: ALL_MEMBERS,
  cancelJob: EDITORS,
};

/** What the stranger has of their own: an organisation and a token. */
const OWN_LISTS = new Set(["listOrganizations", "listPersonalAccessTokens"]);

/** What a malformed id may be answered: there is no such thing, or (a null character, a bad escape) it cannot be one. */
const MALFORMED_ANSWERS = /^(404 (NOT_FOUND|SERVICE_NOT_FOUND|EXECUTION_NOT_FOUND)|400 INVALID_INPUT)$/;

const OPERATIONS: readonly (readonly [string, Operation])[] = Object.entries(PLATFORM_API);

const WITH_PARAMS = OPERATIONS.filter(([, operation]) => operation.params !== undefined);

/** First segment of a path -> what its parameters are. A new segment has to be named here. */
function listParams(ids: {
  key: string;
  application: string;
  keyId: string;
  subscription: string;
  job: string;
  token: string;
}) {
  return {
    services: { key: ids.key, version: "1.0.0" },
    applications: { id: ids.application, keyId: ids.keyId },
    subscriptions: { id: ids.subscription },
    jobs: { id: ids.job },
    "personal-access-tokens": { id: ids.token },
  };
}

describe("the platform API", () => {
  let server: TestDatabase;
  let instance: TestInstance;
  let property: Property;
  let stranger: TestUser;
  let home: Property;
  let members: Readonly<Record<string, TestUser>>;

  beforeAll(async () => {
    server = await createTestDatabase();
    instance = await createTestInstance({ database: server.database });
    property = await createProperty(instance);
    stranger = await createTestUser(instance);
    home = await createProperty(instance);
    const { organisationId } = home.owner;
    members = {
      viewer: await createTestMember(instance, organisationId, "viewer"),
      maintainer: await createTestMember(instance, organisationId, "maintainer"),
      owner: await createTestMember(instance, organisationId, "owner"),
    };
  });
  afterAll(async () => {
    await instance?.close();
    await server?.close();
  });

  const call = async (id: string, operation: Operation, { params, token, organisationId }: Call) => {
    const query = new URLSearchParams(
      operation.query && id === "startJob" ? { serviceKey: property.references["serviceKey"] ?? "" } : {},
    );
    const body = sampleBody(id, operation, property.references);
    return await instance.api.inject({
      method: operation.method,
      url: `/api${fillPath(operation.path, params)}?${query.toString()}`,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(organisationId === undefined ? {} : { "x-organizationid": organisationId }),
        ...(body === undefined
          ? {}
          : { "content-type": operation.bodyMode === "stream" ? "application/zip" : "application/json" }),
      },
      ...(body === undefined ? {} : { payload: body }),
    });
  };

  test.each(OPERATIONS)("%s refuses who has no token", async (id, operation) => {
    const response = await call(id, operation, { params: ownParams(property, operation) });
    expect(response.statusCode).toBe(401);
    expect(response.json()).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(response.headers["www-authenticate"]).toContain("Bearer");
  });

  test.each(OPERATIONS)("%s shows and changes nothing of another organisation", async (id, operation) => {
    const params = ownParams(property, operation);
    const response = await call(id, operation, { params, token: stranger.token });
    const refersToOwned = Object.keys(params).length > 0 || ["createSubscription", "startJob"].includes(id);
    expect(response.statusCode).toBe(refersToOwned ? 404 : id.startsWith("create") ? 201 : 200);
    const isForeignList = !refersToOwned && id.startsWith("list") && !OWN_LISTS.has(id);
    const nothing = { items: [], nextCursor: null };
    expect(isForeignList ? response.json() : nothing).toEqual(nothing);
    const owned = Object.values(property.params).flatMap((texts) => Object.values(texts));
    for (const secret of [...owned, "secret line"].filter((text) => text !== "1.0.0")) {
      expect(response.body).not.toContain(secret);
    }
    await expectUntouched(instance, property);
  });

  test.each(OPERATIONS)(
    "%s cannot be called for an organisation of which one is no member",
    async (id, operation) => {
      const { organisationId } = property.owner;
      const params = ownParams(property, operation);
      const foreign = await call(id, operation, { params, token: stranger.token, organisationId });
      expect(foreign.statusCode).toBe(403);
      const unknown = "00000000-0000-7000-8000-000000000000";
      const missing = await call(id, operation, { params, token: stranger.token, organisationId: unknown });
      expect(missing.json()).toEqual(foreign.json());
      const malformed = await call(id, operation, {
        params,
        token: stranger.token,
        organisationId: "' or 1=1",
      });
      expect(malformed.json()).toEqual(foreign.json());
      await expectUntouched(instance, property);
    },
  );

  test.each(WITH_PARAMS)("%s answers malformed ids with 4xx", async (id, operation) => {
    for (const bad of [
      "x",
      "%00",
      "..%2F..",
      "'%20or%201=1",
      "%F0%9F%92%A9",
      "a".repeat(400),
      "1.0",
      "99999999999.0.0",
    ]) {
      for (const name of Object.keys(ownParams(property, operation))) {
        const params = { ...ownParams(property, operation), [name]: bad };
        const { organisationId, token } = property.owner;
        const response = await call(id, operation, { params, token, organisationId });
        const { code } = response.json<{ code: string }>();
        expect(`${response.statusCode} ${code}`).toMatch(MALFORMED_ANSWERS);
      }
    }
  });

  test.each(OPERATIONS)("%s is open to exactly the roles that it is meant for", async (id, operation) => {
    const { organisationId } = home.owner;
    const allowed = ALLOWED[id];
    if (!allowed) throw new Error(`Say in this test who may ${id}.`);
    const open: string[] = [];
    const refusals: string[] = [];
    for (const role of ALL_MEMBERS) {
      const params = ownParams(home, operation);
      const response = await call(id, operation, {
        params,
        token: members[role]?.token ?? "",
        organisationId,
      });
      expect(response.statusCode).not.toBe(401);
      if (response.statusCode !== 403) open.push(role);
      else refusals.push(response.json<{ detail: string }>().detail.replace(/ of .*; this needs .*/, ""));
    }
    expect(open).toEqual(allowed);
    // Refused for the role, and not for something else.
    expect(refusals).toEqual(
      ALL_MEMBERS.filter((role) => !allowed.includes(role)).map((role) => `You are ${role}`),
    );
  });
});

async function createProperty(instance: TestInstance): Promise<Property> {
  const owner = await createTestUser(instance);
  const service = await createTestService(instance, owner);
  const client = await createTestClient(instance, owner, service);
  const headers = { authorization: `Bearer ${owner.token}`, "content-type": "application/json" };
  const job = await instance.api.inject({
    method: "POST",
    url: `/api/jobs?serviceKey=${service.serviceKey}`,
    headers,
    payload: "{}",
  });
  const [token] = await instance.identity.listPersonalAccessTokens(owner.userId, { limit: 1, offset: 0 });
  if (!token) throw new Error("The owner has no token.");
  const { id: jobId }: { id: string } = job.json();
  return {
    owner,
    params: listParams({
      key: service.serviceKey,
      application: client.applicationId,
      keyId: client.keyId,
      subscription: client.subscriptionId,
      job: jobId,
      token: token.id,
    }),
    references: { serviceKey: service.serviceKey, applicationId: client.applicationId },
  };
}

function ownParams(property: Property, operation: Operation): Texts {
  const names = Object.keys(operation.params?.properties ?? {});
  if (names.length === 0) return {};
  const segment = operation.path.split("/")[1] ?? "";
  const known = property.params[segment];
  return Object.fromEntries(
    names.map((name) => {
      const value = known?.[name];
      if (value === undefined) throw new Error(`Say in this test what ${name} of ${operation.path} is.`);
      return [name, value];
    }),
  );
}

function sampleBody(id: string, operation: Operation, references: Texts): string | undefined {
  if (operation.bodyMode === "stream") return "PK";
  if (!operation.body) return undefined;
  const samples: Readonly<Record<string, unknown>> = {
    createPersonalAccessToken: { name: "mine" },
    createService: { name: `mine-${Math.random().toString(36).slice(2)}` },
    publishService: { scope: "internal" },
    createApplication: { name: "mine" },
    createSubscription: references,
    startJob: {},
  };
  if (!Object.hasOwn(samples, id)) throw new Error(`Give this test a body for ${id}.`);
  return JSON.stringify(samples[id]);
}

function fillPath(path: string, params: Texts): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "");
}

async function expectUntouched(
  { stores, identity }: TestInstance,
  { owner, params }: Property,
): Promise<void> {
  const { organisationId, userId } = owner;
  const key = params["services"]?.["key"] ?? "";
  expect((await stores.versions.find(organisationId, key, "1.0.0"))?.retiredAt).toBeNull();
  expect((await stores.versions.list(organisationId, key, { limit: 10 })).items).toHaveLength(1);
  const application = params["applications"]?.["id"] ?? "";
  expect(await stores.applications.find(organisationId, application)).not.toBeNull();
  expect(await stores.accessKeys.countActive(organisationId, application)).toBe(1);
  expect(
    await stores.subscriptions.find(organisationId, params["subscriptions"]?.["id"] ?? ""),
  ).not.toBeNull();
  expect(await identity.listPersonalAccessTokens(userId, { limit: 10, offset: 0 })).toHaveLength(1);
}
