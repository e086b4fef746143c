import { tmpdir } from "node:os";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { FileReference } from "@platform/contract/execution";
import type { PoolFile } from "@platform/contract/platform-api/data-pools";
import { createPinnedFileLimits } from "../metering/pinned-file-limits.ts";
import { createDataPools } from "../pools/data-pools.ts";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import type { Database, Statement } from "../postgres/database.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let call: CallApi;
/** Of the pool. */
let owner: TestUser;
/** Of the application. */
let caller: TestUser;
let service: TestService;
let client: TestClient;
let token: string;
let pool: string;
let file: PoolFile;
/** What the instance has asked the database. */
const asked: Statement[] = [];

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: watch(home.database) });
  call = createApiCaller(here);
  owner = await createTestUser(here);
  caller = await createTestUser(here);
  service = await createTestService(here, caller);
});
afterAll(async () => {
  await here?.close();
  await home?.close();
});
beforeEach(async () => {
  client = await createTestClient(here, caller, service);
  token = await fetchAccessToken(here, client);
  const name = client.applicationId;
  pool = String((await call(owner, "POST /data-pools", { name })).body["id"]);
  file = await put('{"n": 1}');
});

/** The database, whose statements are kept. */
function watch(database: Database): Database {
  return {
    ...database,
    query: (statement) => {
      asked.push(statement);
      return database.query(statement);
    },
  };
}

async function put(content: string): Promise<PoolFile> {
  const stored = await here.api.inject({
    method: "PUT",
    url: `/api/data-pools/${pool}/files/input.json`,
    headers: { authorization: `Bearer ${owner.token}` },
    payload: content,
  });
  return stored.json();
}

async function start(body: object) {
  const { serviceKey, serviceName, version } = service;
  return await here.gateway.inject({
    method: "POST",
    url: `/${serviceKey}/${serviceName}/${version}/`,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    payload: JSON.stringify(body),
  });
}

const refer = (reference: FileReference = file.reference) => start({ dataRef: reference });
const share = () =>
  call(owner, `PUT /data-pools/${pool}/shares/${caller.organisationId}`, { role: "viewer" });
const grant = () => call(owner, `PUT /data-pools/${pool}/grants/${client.applicationId}`, { access: "read" });
const startJob = () =>
  call(caller, `POST /jobs?serviceKey=${service.serviceKey}`, { paramsRef: file.reference });

test("an application refers to files of pools that it was let read, and to no others", async () => {
  const unknown = await refer({ ...file.reference, fileId: "00000000-0000-4000-8000-000000000000" });
  expect([unknown.statusCode, unknown.json().code]).toEqual([422, "DATA_REFERENCE_INVALID"]);
  const expectUnknown = async () => {
    const refused = await refer();
    expect([refused.statusCode, refused.body]).toEqual([422, unknown.body]);
  };
  await expectUnknown();
  // Shared with its organisation: still not with this application.
  await share();
  await expectUnknown();
  await grant();
  expect((await refer()).statusCode).toBe(201);
  expect((await start({ data: {}, paramsRef: file.reference })).statusCode).toBe(201);
  const other = await createTestClient(here, caller, await createTestService(here, caller, "other"));
  expect(other.applicationId).not.toBe(client.applicationId);
  await call(owner, `DELETE /data-pools/${pool}/grants/${client.applicationId}`);
  await expectUnknown();
  await grant();
  expect((await refer()).statusCode).toBe(201);
  await call(owner, `DELETE /data-pools/${pool}/shares/${caller.organisationId}`);
  await expectUnknown();
});

test("another application of the same organisation is let read nothing by that", async () => {
  await share();
  await grant();
  const second = await createTestService(here, caller, "second");
  const other = await createTestClient(here, caller, second);
  const response = await here.gateway.inject({
    method: "POST",
    url: `/${second.serviceKey}/${second.serviceName}/1.0.0/`,
    headers: {
      authorization: `Bearer ${await fetchAccessToken(here, other)}`,
      "content-type": "application/json",
    },
    payload: JSON.stringify({ dataRef: file.reference }),
  });
  expect(response.json().code).toBe("DATA_REFERENCE_INVALID");
});

test("an application is given a pool of another organisation as a folder while that shares it and has granted it", async () => {
  const { organisationId } = caller;
  const owned = { kind: "subscription", id: client.subscriptionId, organisationId } as const;
  const pin = () => here.inputs.pinPools([pool], owned);
  const expectUnknown = () => expect(pin()).rejects.toMatchObject({ code: "DATA_REFERENCE_INVALID" });
  await expectUnknown();
  await share();
  await expectUnknown();
  await grant();
  const { name, fileId, sha256, bytes } = file;
  expect(await pin()).toEqual([[{ name, fileId, sha256, bytes }]]);
  const other = await createTestClient(here, caller, await createTestService(here, caller, "third"));
  await expect(here.inputs.pinPools([pool], { ...owned, id: other.subscriptionId })).rejects.toMatchObject({
    code: "DATA_REFERENCE_INVALID",
  });
  await call(owner, `DELETE /data-pools/${pool}/shares/${organisationId}`);
  await expectUnknown();
});

test("jobs of an organisation refer to files of pools that are shared with it", async () => {
  expect((await startJob()).body["code"]).toBe("DATA_REFERENCE_INVALID");
  await share();
  expect((await startJob()).status).toBe(201);
  await call(owner, `DELETE /data-pools/${pool}/shares/${caller.organisationId}`);
  expect((await startJob()).body["code"]).toBe("DATA_REFERENCE_INVALID");
});

test("a pool that is withdrawn while its file is looked at for the first time is as unknown", async () => {
  await share();
  await grant();
  const withdraw = () => call(owner, `DELETE /data-pools/${pool}/shares/${caller.organisationId}`);
  const inputs = createDataPools({
    references: here.stores.references,
    objects: { fetchTo: async () => undefined },
    jsonCheck: {
      ask: async () => {
        await withdraw();
        return { form: "object", range: { start: 0, end: 8 } };
      },
    },
    directory: tmpdir(),
    maxBytes: 100,
    poolLimits: { files: 10, bytes: 1_000 },
    fileLimits: createPinnedFileLimits(here.stores.rateBuckets, 1_000),
  });
  const { reference } = await put(`{"n": "${client.applicationId}"}`);
  const { subscriptionId: id } = client;
  const { organisationId } = caller;
  await expect(inputs.pin(reference, { kind: "subscription", id, organisationId })).rejects.toMatchObject({
    code: "DATA_REFERENCE_INVALID",
  });
});

/** Names of the statements about pools and objects that a start makes. */
async function listAsked(body: object): Promise<readonly string[]> {
  asked.length = 0;
  await start(body);
  return asked.filter(({ text }) => /pool|object/u.test(text)).map(({ name = "" }) => name);
}

test("a start asks the database once for a reference whose file is known, and not at all without one", async () => {
  await share();
  await grant();
  expect((await refer()).statusCode).toBe(201);
  expect(await listAsked({ dataRef: file.reference })).toEqual(["reference-find"]);
  expect(await listAsked({ data: { n: 1 } })).toEqual([]);
});
