import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Operation } from "@platform/contract/operation";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { callOperation, createProperty, ownParams } from "../testing/operation-calls.ts";
import type { Property, Texts } from "../testing/operation-calls.ts";

interface Call {
  readonly params: Texts;
  readonly token?: string;
  readonly organisationId?: string;
}

/** A feed has no last page. */
const ANY_CURSOR: unknown = expect.any(String);
/** What the stranger has of their own: an organisation and a token. */
const OWN_LISTS = new Set([
  "listOrganizations",
  "listPersonalAccessTokens",
  "listSessions",
  "listMembers",
  "listAuditEvents",
  "listOrganizationSecrets",
  "listOrganizationVariables",
]);

/** What a stranger is answered where it is neither 404 for what is the organisation's, nor 200 or 201 for what is not. */
const OTHER_ANSWERS: Readonly<Record<string, number>> = {
  // The stranger's request has no session, and the body not their password.
  signOut: 404,
  changePassword: 400,
  requestEmailVerification: 202,
  // A link that is unknown is answered like one that was used.
  verifyEmail: 410,
  // Nobody can leave their own organisation.
  leaveOrganization: 409,
  // The link was revoked.
  acceptInvitation: 410,
  // The stranger's own organisation has a secret and a variable of the same names.
  putOrganizationSecret: 200,
  deleteOrganizationSecret: 204,
  putOrganizationVariable: 200,
  deleteOrganizationVariable: 204,
};

/** What the stranger has under the same name. */
const SHARED: ReadonlySet<string> = new Set(["1.0.0", "API_TOKEN", "API_MODE"]);

/** What a malformed id may be answered: there is no such thing (of a link: any more), or (a null character, a bad escape) it cannot be one. */
const MALFORMED_ANSWERS =
  /^(404 (NOT_FOUND|SERVICE_NOT_FOUND|EXECUTION_NOT_FOUND)|410 LINK_EXPIRED|400 INVALID_INPUT)$/;
/** The job whose result is asked for a malformed name is there, and has none yet. */
const OF_A_PENDING_JOB = /^(404 (EXECUTION_NOT_FOUND|RESULT_NOT_READY)|400 INVALID_INPUT)$/;

const OPERATIONS: readonly (readonly [string, Operation])[] = Object.entries<Operation>(PLATFORM_API).filter(
  // What operators may do is of no organisation: operator-permissions.test.ts.
  ([, { allows }]) => allows !== "public" && allows !== "operator",
);

const WITH_PARAMS = OPERATIONS.filter(([, operation]) => operation.params !== undefined);

describe("the platform API", () => {
  let server: TestDatabase;
  let instance: TestInstance;
  let property: Property;
  let stranger: TestUser;

  beforeAll(async () => {
    server = await createTestDatabase();
    instance = await createTestInstance({ database: server.database });
    property = await createProperty(instance);
    stranger = await createTestUser(instance);
    const { organisationId, userId: by } = stranger;
    const { variables } = instance.stores;
    const place = { organisationId, serviceKey: null };
    await variables.put(place, "API_TOKEN", { by, kind: "secret", sealed: "sealed", keyId: "test" });
    await variables.put(place, "API_MODE", { by, kind: "variable", value: "own" });
  });
  afterAll(async () => {
    await instance?.close();
    await server?.close();
  });

  const call = (id: string, operation: Operation, { params, token, organisationId }: Call) =>
    callOperation(instance, {
      id,
      operation,
      property,
      params,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(organisationId === undefined ? {} : { "x-organizationid": organisationId }),
      },
    });

  test.each(OPERATIONS)("%s refuses who has no token", async (id, operation) => {
    const response = await call(id, operation, { params: ownParams(property, operation) });
    expect(response.statusCode).toBe(401);
    expect(response.json()).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(response.headers["www-authenticate"]).toContain("Bearer");
  });

  test.each(OPERATIONS)("%s shows and changes nothing of another organisation", async (id, operation) => {
    const params = ownParams(property, operation);
    const response = await call(id, operation, { params, token: stranger.token });
    const refersToOwned =
      Object.keys(params).length > 0 ||
      ["createSchedule", "createSubscription", "startJob", "startJobBatch"].includes(id);
    const answer = id.startsWith("create") ? 201 : 200;
    expect(response.statusCode).toBe(OTHER_ANSWERS[id] ?? (refersToOwned ? 404 : answer));
    const isForeignList = !refersToOwned && id.startsWith("list") && !OWN_LISTS.has(id);
    const nothing = {
      items: [],
      ...(id === "listEvents" ? { cursor: ANY_CURSOR } : { nextCursor: null }),
      ...(id === "listExecutions" ? { isComplete: true } : {}),
    };
    expect(isForeignList ? response.json() : nothing).toEqual(nothing);
    const owned = Object.values(property.params).flatMap((texts) => Object.values(texts));
    for (const secret of [...owned, "secret line", "value of a variable"].filter(
      (text) => !SHARED.has(text),
    )) {
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
      // Whoever sets a secret or stores a file chooses its name; which are refused is in variables.test.ts and data-pools.test.ts.
      const chosen = id === "putPoolFile" ? "file" : "name";
      for (const name of Object.keys(ownParams(property, operation)).filter((one) => one !== chosen)) {
        const params = { ...ownParams(property, operation), [name]: bad };
        const { organisationId, token } = property.owner;
        const response = await call(id, operation, { params, token, organisationId });
        const { code } = response.json<{ code: string }>();
        expect(`${response.statusCode} ${code}`).toMatch(
          id === "getJobResultFile" ? OF_A_PENDING_JOB : MALFORMED_ANSWERS,
        );
      }
    }
  });
});

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
  ).toMatchObject({ isPaused: false });
  expect(await stores.services.findByKey(organisationId, key)).toMatchObject({ logs: "caller" });
  expect(await stores.listings.find(organisationId, key)).toMatchObject({ changedAt: null });
  expect(await stores.plans.find(organisationId, key, "basic")).toMatchObject({ revision: 1 });
  expect(await identity.listPersonalAccessTokens(userId, { limit: 10, offset: 0 })).toHaveLength(1);
  expect(await identity.listSessions(userId, { limit: 10, offset: 0 })).toHaveLength(1);
  expect(await identity.listInvitations(organisationId, { limit: 10, offset: 0 })).toHaveLength(1);
  expect(await identity.listMembers(organisationId, { limit: 10, offset: 0 })).toMatchObject([
    { userId, role: "owner" },
  ]);
  const pool = { organisationId, poolId: params["data-pools"]?.["id"] ?? "" };
  expect((await stores.poolShares.list(pool, { limit: 10 }))?.items).toMatchObject([{ role: "viewer" }]);
  expect((await stores.poolGrants.list(pool, { limit: 10 }))?.items).toMatchObject([{ access: "read" }]);
  expect((await identity.findMembership(userId))?.organisationName).toBe("Somebody");
  for (const serviceKey of [key, null])
    for (const [kind, name] of [
      ["secret", "API_TOKEN"],
      ["variable", "API_MODE"],
    ] as const)
      expect(
        await stores.variables.list({ organisationId, serviceKey }, kind, { limit: 10, offset: 0 }),
      ).toMatchObject([{ name, revision: 1 }]);
}
