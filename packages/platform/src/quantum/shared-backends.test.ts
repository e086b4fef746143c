import { SUCCEEDED, createLine, request } from "@platform/engine/testing/execution-fixtures";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { BackendDescription } from "@platform/contract/quantum-api/description";
import { createFeedStore } from "../store/feed/feed.ts";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestOperator, createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { TEST_DESCRIPTION, TEST_JOB, createQuantumScene } from "../testing/quantum-scene.ts";
import type { QuantumScene } from "../testing/quantum-scene.ts";

/** With gates that programs of vendors cannot read. */
const CONFIGURATION = {
  ...TEST_DESCRIPTION.configuration,
  gates: ["h", "cx", "ccx", "unitary"].map((name) => ({ name, native_gate: true })),
};

let scene: QuantumScene;
let operator: TestUser;
let call: CallApi;
/** Whose backend it is, and who uses it. */
let provider: TestUser;
let caller: TestUser;
/** Another one for each test: an id of the platform is there once. */
let id: string;
let serviceKey: string;
let count = 0;

beforeAll(async () => {
  scene = await createQuantumScene();
  operator = await createTestOperator(scene.instance);
  call = createApiCaller(scene.instance);
});
afterAll(() => scene?.close());
beforeEach(async () => {
  id = `sim.echo${(count += 1)}`;
  [provider, caller] = [await createTestUser(scene.instance), await createTestUser(scene.instance)];
  serviceKey = await createBackend(provider);
});

const createBackend = async (user: TestUser, changes: Partial<BackendDescription> = {}) =>
  await scene.createBackend(user, id, { configuration: CONFIGURATION, ...changes });
const quantum: QuantumScene["call"] = (...given) => scene.call(...given);
const used = async (user: TestUser, side: string) =>
  (await call(user, `GET /usage?side=${side}`)).body["items"] as readonly unknown[];
const share = async (body: unknown = { serviceKey }, name = id) =>
  await call(operator, `PUT /operator/backends/${name}`, body);
const start = async (user: TestUser, name = id, more: object = {}) =>
  await quantum(user, "POST /jobs", {
    ...TEST_JOB,
    backend_id: name,
    ...more,
  });

test("a backend is another organisation's from the moment that an operator shares it until it is taken back", async () => {
  const list = async () =>
    (await quantum(caller, "GET /backends")).body as unknown as readonly { id: string }[];
  expect((await start(caller)).status).toBe(404);
  expect((await share()).body).toMatchObject({
    id,
    aliasOf: null,
    version: "2.0.0",
    service: { key: serviceKey, organizationId: provider.organisationId },
  });
  expect((await list()).map((one) => one.id)).toContain(id);
  expect((await quantum(caller, `GET /backends/${id}`)).body).toMatchObject({ internal_id: serviceKey });
  const { status, body } = await start(caller);
  expect([status, body]).toEqual([201, expect.objectContaining({ backend_version: "2.0.0" })]);
  // Counted once a second.
  await expect
    .poll(async () => (await quantum(caller, `GET /backends/${id}/status`)).body)
    .toMatchObject({ queue_size: 1 });
  expect((await call(operator, `DELETE /operator/backends/${id}`)).status).toBe(204);
  expect((await call(operator, `DELETE /operator/backends/${id}`)).body).toMatchObject({
    code: "BACKEND_NOT_FOUND",
  });
  expect((await list()).map((one) => one.id)).not.toContain(id);
  expect((await start(caller)).status).toBe(404);
  // What was started goes on, and its own organisation keeps it.
  expect((await quantum(caller, `GET /jobs/${String(body["id"])}/status`)).body).toEqual({
    status: "PENDING",
  });
  expect((await start(provider)).status).toBe(201);
});

test("a job on a shared backend is its caller's alone: its provider sees neither it nor what is in it", async () => {
  await share();
  const { body } = await start(caller);
  const job = String(body["id"]);
  const { claims } = await scene.store.claim(request({ kind: "backend", onlyId: job }));
  expect(claims).toMatchObject([{ owner: { kind: "organisation", id: caller.organisationId } }]);
  for (const claim of claims) {
    await scene.store.appendLog(claim, [createLine("about the circuit")]);
    await scene.store.finish(claim, SUCCEEDED);
  }
  const parts = ["", "/status", "/result", "/input", "/log"].map((part) => `GET /jobs/${job}${part}`);
  const others = ["", "/input", "/log", "/result"].map((part) => `GET /executions/${job}${part}`);
  const read = async (user: TestUser) => [
    ...(await Promise.all(parts.map(async (part) => (await quantum(user, part)).status))),
    ...(await Promise.all([...parts, ...others].map(async (part) => (await call(user, part)).status))),
  ];
  expect(new Set(await read(provider))).toEqual(new Set([404]));
  expect((await quantum(caller, `GET /jobs/${job}/log`)).body).toMatchObject([
    { message: "about the circuit" },
  ]);
  expect((await call(caller, `GET /executions/${job}`)).body).toMatchObject({ kind: "job" });
  expect((await call(provider, `GET /executions/${job}/location`)).status).toBe(404);
  const listed = async (user: TestUser) =>
    (await call(user, `GET /executions?serviceKey=${serviceKey}`)).body["items"] as readonly unknown[];
  expect([await listed(provider), (await listed(caller)).length]).toEqual([[], 1]);
});

test("a session on a shared backend is its organisation's, not that of whose backend it is, and takes no jobs once that is taken back", async () => {
  await share();
  const { body } = await quantum(caller, "POST /sessions", { backend_id: id });
  const inSession = async (user: TestUser) => await start(user, id, { session_id: body["id"] });
  const refused = { status: 400, body: { errors: [{ path: "/session_id" }] } };
  expect((await inSession(caller)).status).toBe(201);
  expect(await inSession(provider)).toMatchObject(refused);
  await call(operator, `DELETE /operator/backends/${id}`);
  expect(await inSession(caller)).toMatchObject(refused);
});

test("the feed tells nobody but the caller of a job on a shared backend", async () => {
  await share();
  const job = String((await start(caller)).body["id"]);
  const feed = createFeedStore(scene.home.database);
  await feed.sequence();
  const told = async (user: TestUser) => {
    const events = await feed.read({ kind: "organisation", id: user.organisationId }, 0, 100);
    return events.filter(({ executionId }) => executionId === job).length;
  };
  expect([await told(provider), await told(caller)]).toEqual([0, 1]);
});

test("what a job on a shared backend takes is its caller's use", async () => {
  await share();
  const job = String((await start(caller)).body["id"]);
  const { claims } = await scene.store.claim(request({ kind: "backend", onlyId: job }));
  for (const claim of claims) await scene.store.finish(claim, SUCCEEDED);
  expect((await used(caller, "consumer")).length).toBeGreaterThan(0);
  expect([await used(provider, "consumer"), await used(provider, "provider")]).toEqual([[], []]);
});

test("an organisation's own backend goes first, and the shared one serves it again when that is gone", async () => {
  await share();
  const own = await createBackend(caller, { display_name: "Own" });
  const name = async () => (await quantum(caller, `GET /backends/${id}`)).body["display_name"];
  expect(await name()).toBe("Own");
  expect((await quantum(caller, `GET /backends/${id}`)).body).toMatchObject({ internal_id: own });
  const ids = ((await quantum(caller, "GET /backends")).body as unknown as readonly { id: string }[]).filter(
    (one) => one.id === id,
  );
  expect(ids).toHaveLength(1);
  for (const version of ["2.0.0", "1.0.0"])
    await scene.instance.stores.versions.retire(caller.organisationId, own, version);
  expect(await name()).toBe("Echo");
});

test("an id of the platform is one backend's: the same again changes nothing, another is refused", async () => {
  const other = await createBackend(caller);
  const answers = await Promise.all([
    share(),
    share({ serviceKey: other }),
    share(),
    share({ serviceKey: other }),
  ]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 409, 409]);
});

test.each<readonly [string, object, number, string]>([
  [
    "a service that is none",
    { serviceKey: "0198c1de-7a53-4000-8000-0000000000e0" },
    404,
    "SERVICE_NOT_FOUND",
  ],
  ["a backend that is not shared", { aliasOf: "sim.nobody" }, 404, "BACKEND_NOT_FOUND"],
  ["nothing", {}, 400, "INVALID_INPUT"],
  ["both", { serviceKey: "x", aliasOf: "sim.nobody" }, 400, "INVALID_INPUT"],
])("an operator cannot share %s", async (_what, body, status, code) => {
  expect(await share(body)).toMatchObject({ status, body: { code } });
});

test("a service that is no backend cannot be shared", async () => {
  const service = await createTestService(scene.instance, provider, "plain");
  expect((await share({ serviceKey: service.serviceKey })).body).toMatchObject({ code: "SERVICE_NOT_FOUND" });
});

test("an alias is the simulator that it names, says so, and has what programs of its vendor expect", async () => {
  const alias = "azure.ionq.simulator";
  expect((await share({ aliasOf: id }, alias)).body).toMatchObject({ code: "BACKEND_NOT_FOUND" });
  await share();
  expect((await share({ aliasOf: id }, alias)).body).toMatchObject({ id: alias, aliasOf: id });
  expect((await share({ aliasOf: alias }, "sim.again")).body).toMatchObject({ code: "BACKEND_NOT_FOUND" });
  const { body } = await quantum(caller, `GET /backends/${alias}`);
  expect(body).toMatchObject({
    id: alias,
    display_name: `${alias}, simulated by ${id}`,
    provider: "AZURE",
    hardware_provider: "IONQ",
    configuration: { max_pubs_per_job: 1, gates: [{ name: "h" }, { name: "cx" }] },
  });
  expect((await start(caller, alias)).body).toMatchObject({ backend_id: alias, provider: "AZURE" });
  const two = { input: { pubs: [1, 2] } };
  expect((await start(caller, alias, two)).status).toBe(400);
  expect((await start(caller, id, two)).status).toBe(201);
  await call(operator, `DELETE /operator/backends/${id}`);
  expect((await start(caller, alias)).status).toBe(404);
  const left = (await call(operator, "GET /operator/backends?limit=100")).body["items"] as readonly {
    id: string;
  }[];
  expect(left.map((one) => one.id)).not.toContain(alias);
});

test("what is no simulator stands in for none", async () => {
  const user = await createTestUser(scene.instance);
  id = `${id}.qpu`;
  const key = await createBackend(user, { type: "QPU" });
  await share({ serviceKey: key });
  expect((await share({ aliasOf: id }, "kipu.sim.qsim")).body).toMatchObject({ code: "INVALID_INPUT" });
});

test("sharing stands in the log of the operator and of the organisation whose backend it is, once for each change", async () => {
  await share();
  await share();
  await call(operator, `DELETE /operator/backends/${id}`);
  const read = async (user: TestUser) =>
    ((await call(user, "GET /audit-events")).body["items"] as readonly Record<string, unknown>[]).filter(
      ({ changes }) => JSON.stringify(changes).includes(serviceKey),
    );
  for (const user of [operator, provider])
    expect(await read(user)).toMatchObject([
      { action: "backend.unshare", changes: [{ field: "serviceKey", before: serviceKey, after: null }] },
      { action: "backend.share", changes: [{ field: "serviceKey", before: null, after: serviceKey }] },
    ]);
});
