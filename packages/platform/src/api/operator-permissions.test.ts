import { afterAll, beforeAll, expect, test } from "vitest";
import type { Operation } from "@platform/contract/operation";
import { TOKEN_SCOPES } from "@platform/contract/permissions";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { PROOF } from "../testing/browser.ts";
import {
  createTestClient,
  createTestOperator,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { callOperation, createProperty, ownParams } from "../testing/operation-calls.ts";
import type { Property } from "../testing/operation-calls.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

type Headers = Readonly<Record<string, string>>;

const OPERATIONS: readonly (readonly [string, Operation])[] = Object.entries<Operation>(PLATFORM_API).filter(
  ([, { path }]) => path.startsWith("/operator"),
);

/** How each caller is refused; those that are not here may call all of them. */
const REFUSALS: Readonly<Record<string, RegExp>> = {
  nobody: /^401 UNAUTHENTICATED /u,
  application: /^401 UNAUTHENTICATED This is not a personal access token\./u,
  owner: /^403 FORBIDDEN Only operators of this platform may do this\.$/u,
  "owner's session": /^403 FORBIDDEN Only operators of this platform may do this\.$/u,
  "operator, read":
    /^403 FORBIDDEN This personal access token has the scope read; this needs the scope admin\.$/u,
  "operator, run":
    /^403 FORBIDDEN This personal access token has the scope run; this needs the scope admin\.$/u,
  "operator, deploy":
    /^403 FORBIDDEN This personal access token has the scope deploy; this needs the scope admin\.$/u,
  "operator, quantum":
    /^403 FORBIDDEN This personal access token has the scope quantum; this needs the scope admin\.$/u,
  "operator's session without proof":
    /^403 FORBIDDEN Requests with a session's cookie need the header X-Requested-By: console\./u,
  "operator's session from another site": /^403 FORBIDDEN /u,
  "operator in a foreign organisation": /^403 FORBIDDEN There is no such organisation/u,
  "former operator": /^403 FORBIDDEN Only operators of this platform may do this\.$/u,
  "disabled operator": /^401 UNAUTHENTICATED /u,
};
const ALLOWED = ["operator's session", "operator, admin"];

let server: TestDatabase;
let instance: TestInstance;
let home: Property;
let callers: ReadonlyMap<string, Headers>;

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

async function startSession({ userId }: TestUser): Promise<string> {
  return `platform_session=${await instance.identity.createSession(userId, { userAgent: "test", ip: "192.0.2.1" })}`;
}

beforeAll(async () => {
  server = await createTestDatabase();
  instance = await createTestInstance({ database: server.database });
  home = await createProperty(instance);
  callers = await createCallers();
});
afterAll(async () => {
  await instance?.close();
  await server?.close();
});

async function createCallers(): Promise<ReadonlyMap<string, Headers>> {
  const { identity } = instance;
  const operator = await createTestOperator(instance);
  const owner = await createTestUser(instance);
  const client = await createTestClient(instance, owner, await createTestService(instance, owner));
  const scoped = await Promise.all(
    TOKEN_SCOPES.map(async (scope) => {
      const wanted = { name: scope, scopes: [scope] };
      const { token } = await identity.createPersonalAccessToken(operator.userId, wanted);
      return [`operator, ${scope}`, bearer(token)] as const;
    }),
  );
  const former = await createTestOperator(instance);
  await identity.setOperator(former.email, false);
  const disabled = await createTestOperator(instance);
  await identity.setUserDisabled(disabled.userId, true, operator.userId);
  const cookie = await startSession(operator);
  return new Map<string, Headers>([
    ...scoped,
    ["nobody", {}],
    ["application", bearer(await fetchAccessToken(instance, client))],
    ["owner", bearer(owner.token)],
    ["owner's session", { ...PROOF, cookie: await startSession(owner) }],
    ["operator's session", { ...PROOF, cookie }],
    ["operator's session without proof", { cookie }],
    ["operator's session from another site", { ...PROOF, "sec-fetch-site": "cross-site", cookie }],
    [
      "operator in a foreign organisation",
      { ...bearer(operator.token), "x-organizationid": owner.organisationId },
    ],
    ["former operator", bearer(former.token)],
    ["disabled operator", bearer(disabled.token)],
  ]);
}

test("all operations that only operators may call are below /operator, and no others", () => {
  expect(OPERATIONS.length).toBeGreaterThan(0);
  expect(Object.entries<Operation>(PLATFORM_API).filter(([, { allows }]) => allows === "operator")).toEqual(
    OPERATIONS,
  );
});

test.each(OPERATIONS)("%s is open to operators alone", async (id, operation) => {
  const refused: [caller: string, refusal: string][] = [];
  const open: string[] = [];
  for (const [caller, headers] of callers) {
    const params = ownParams(home, operation);
    const response = await callOperation(instance, { id, operation, property: home, params, headers });
    if (response.statusCode !== 401 && response.statusCode !== 403) {
      open.push(caller);
      continue;
    }
    const { code, detail } = response.json<{ code: string; detail: string }>();
    refused.push([caller, `${response.statusCode} ${code} ${detail}`]);
  }
  expect(open.toSorted()).toEqual(ALLOWED);
  expect(refused.map(([caller]) => caller).toSorted()).toEqual(Object.keys(REFUSALS).toSorted());
  for (const [caller, refusal] of refused) expect(refusal).toMatch(REFUSALS[caller] ?? /^$/u);
});

test.each([
  "GET /services/{key}",
  "GET /services/{key}/versions",
  "GET /applications/{application}",
  "GET /applications/{application}/access-keys",
  "GET /jobs/{job}",
  "GET /jobs/{job}/log",
  "GET /executions/{job}",
  "GET /executions/{job}/input",
  "GET /executions/{job}/result",
  "GET /executions/{job}/log",
  "GET /data-pools/{pool}/files",
  "GET /services/{key}/secrets",
  "GET /services/{key}/variables",
  "GET /subscriptions/{subscription}",
])("an operator sees nothing of what organisations have: %s", async (request) => {
  const ids = {
    key: home.params["services"]?.["key"],
    application: home.params["applications"]?.["id"],
    subscription: home.params["subscriptions"]?.["id"],
    job: home.params["jobs"]?.["id"],
    pool: home.params["data-pools"]?.["id"],
  };
  const path = request
    .replace("GET ", "/api")
    .replace(/\{(\w+)\}/u, (_, name: keyof typeof ids) => ids[name] ?? "");
  const headers = callers.get("operator, admin") ?? {};
  expect((await instance.api.inject({ url: path, headers })).statusCode).toBe(404);
  const owner = bearer(home.owner.token);
  expect((await instance.api.inject({ url: path, headers: owner })).statusCode).not.toBe(403);
  const inHome = { ...headers, "x-organizationid": home.owner.organisationId };
  expect((await instance.api.inject({ url: path, headers: inHome })).statusCode).toBe(403);
});
