import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QUANTUM_API } from "@platform/contract/quantum-api/quantum-api";
import { createTestMember, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { TEST_DESCRIPTION, TEST_JOB, createQuantumScene } from "../testing/quantum-scene.ts";
import type { QuantumScene } from "../testing/quantum-scene.ts";

const JOB = { ...TEST_JOB, backend_id: "sim.echo" };

let scene: QuantumScene;
let other: TestUser;

beforeAll(async () => {
  scene = await createQuantumScene();
  other = await createTestUser(scene.instance);
  for (const user of [scene.provider, other]) await scene.createBackend(user, "sim.echo");
});
afterAll(() => scene?.close());

const call: QuantumScene["call"] = (...given) => scene.call(...given);

test("a job of one organisation is none of another, whatever is asked of it", async () => {
  const { body } = await call(scene.provider, "POST /jobs", JOB);
  const id = String(body["id"]);
  for (const part of ["", "/status", "/result", "/input"])
    expect(await call(other, `GET /jobs/${id}${part}`)).toMatchObject({
      status: 404,
      body: { code: "EXECUTION_NOT_FOUND" },
    });
  expect((await call(other, `DELETE /jobs/${id}`)).status).toBe(404);
  expect((await call(other, "GET /jobs")).body).toMatchObject({ content: [], total_elements: 0 });
  expect((await call(scene.provider, `GET /jobs/${id}/status`)).body).toEqual({ status: "PENDING" });
  expect((await call(scene.provider, `GET /jobs/${id}/input`)).body).toBe(JOB.input);
  expect((await call(scene.provider, "GET /jobs")).body).toMatchObject({
    content: [{ id }],
    total_elements: 1,
  });
});

test("two organisations may have a backend of one name, each its own", async () => {
  const key = async (user: TestUser) => (await call(user, "GET /backends/sim.echo")).body["internal_id"];
  expect(await key(scene.provider)).not.toBe(await key(other));
  expect((await call(scene.stranger, "GET /backends")).body).toEqual([]);
  expect((await call(scene.stranger, "POST /jobs", JOB)).status).toBe(404);
});

test("a member who only reads starts and cancels nothing", async () => {
  const viewer = await createTestMember(scene.instance, scene.provider.organisationId, "viewer");
  const { body } = await call(scene.provider, "POST /jobs", JOB);
  const there = { "x-organizationid": scene.provider.organisationId };
  expect((await call(viewer, "GET /jobs", undefined, there)).status).toBe(200);
  expect(await call(viewer, "POST /jobs", JOB, there)).toMatchObject({
    status: 403,
    body: { code: "FORBIDDEN" },
  });
  expect((await call(viewer, `DELETE /jobs/${String(body["id"])}`, undefined, there)).status).toBe(403);
});

test("a start that only prefers to be tried starts nothing, and is said to", async () => {
  const count = async () => (await call(scene.provider, "GET /jobs")).body["total_elements"];
  const before = await count();
  const dry = await call(scene.provider, "POST /jobs", JOB, { prefer: "dry-run" });
  expect(dry).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
  expect(dry.body["detail"]).toContain("rehearsed");
  expect(await count()).toBe(before);
});

test.each<readonly [string, object]>([
  ["a null character in its name", { name: "a\0b" }],
  ["half a character in a tag", { tags: ["\ud800"] }],
  ["a null character in its options", { input_params: { a: { b: ["\0"] } } }],
  ["options of more than 64 KB", { input_params: { text: "x".repeat(70_000) } }],
  ["a format that cannot be stored", { input_format: "\0" }],
])("a job with %s is refused, and is no fault of the platform", async (_what, more) => {
  expect(await call(scene.provider, "POST /jobs", { ...JOB, ...more })).toMatchObject({
    status: 400,
    body: { code: "INVALID_INPUT" },
  });
});

test("jobs are found by a part of their name, whatever its letters, and by when they were created", async () => {
  const user = await createTestUser(scene.instance);
  await scene.createBackend(user, "sim.named");
  const start = async (name: string | null) =>
    (await call(user, "POST /jobs", { ...JOB, backend_id: "sim.named", name })).body;
  const ghz = await start("GHZ of 100% of them");
  await start("Bell pair");
  await start(null);
  const list = async (query: Record<string, string>) =>
    (await call(user, `GET /jobs?${new URLSearchParams(query).toString()}`)).body;
  expect(await list({ name: "ghz OF 100%" })).toMatchObject({
    content: [{ id: ghz["id"] }],
    total_elements: 1,
  });
  // A sign that stands for any text elsewhere stands for itself.
  expect(await list({ name: "g%z" })).toMatchObject({ total_elements: 0 });
  expect(await list({ createdBefore: "2026-01-01 00:00:00" })).toMatchObject({ total_elements: 0 });
  expect(await list({ createdBefore: "2126-01-01 00:00:00" })).toMatchObject({ total_elements: 3 });
});

/** The status of the answer to a request with the cookie of a session of the provider. */
async function withSession(request: string, headers: Record<string, string>, json?: unknown) {
  const { identity } = scene.instance;
  const client = { userAgent: "Test/1.0", ip: "192.0.2.1" };
  const session = await identity.createSession(scene.provider.userId, client);
  const [method = "", path = ""] = request.split(" ");
  const { statusCode } = await scene.instance.api.inject({
    method: method as "GET" | "POST" | "DELETE",
    url: `/quantum${path}`,
    headers: { cookie: `platform_session=${session}`, "content-type": "application/json", ...headers },
    ...(json === undefined ? {} : { payload: JSON.stringify(json) }),
  });
  return statusCode;
}

describe("with the cookie of a session", () => {
  const proof = { "x-requested-by": "console", "sec-fetch-site": "same-origin" };
  test("the console reads, starts and cancels", async () => {
    expect(await withSession("GET /backends", proof)).toBe(200);
    expect(await withSession("POST /jobs", proof, JOB)).toBe(201);
  });

  test.each<readonly [string, Record<string, string>]>([
    ["without the header of the console", { "sec-fetch-site": "same-origin" }],
    ["from a page of another origin", { "x-requested-by": "console", "sec-fetch-site": "cross-site" }],
    ["from another port of the host", { "x-requested-by": "console", "sec-fetch-site": "same-site" }],
    ["of a form of another origin", { "x-requested-by": "console", origin: "https://evil.example" }],
  ])("a request %s is refused, and does nothing", async (_what, headers) => {
    const count = async () => (await call(scene.provider, "GET /jobs")).body["total_elements"];
    const { body } = await call(scene.provider, "POST /jobs", JOB);
    const before = await count();
    expect(await withSession("POST /jobs", headers, JOB)).toBe(403);
    expect(await withSession(`DELETE /jobs/${String(body["id"])}`, headers)).toBe(403);
    expect(await count()).toBe(before);
    expect((await call(scene.provider, `GET /jobs/${String(body["id"])}`)).body["status"]).toBe("PENDING");
  });

  test("a body that a form can send is refused", async () => {
    const headers = { ...proof, "content-type": "text/plain" };
    expect(await withSession("POST /jobs", headers, JOB)).toBe(415);
  });
});

test.each(["2026-13-45 00:00:00", "2026-02-31 25:00:00", "yesterday"])(
  "jobs after %s cannot be listed",
  async (time) => {
    expect(await call(scene.provider, `GET /jobs?createdAfter=${encodeURIComponent(time)}`)).toMatchObject({
      status: 400,
      body: { code: "INVALID_INPUT" },
    });
  },
);

test("a start that is repeated is answered with the first one, also when the backend is gone", async () => {
  const user = await createTestUser(scene.instance);
  const serviceKey = await scene.createBackend(user, "sim.gone");
  const send = async () =>
    await call(user, "POST /jobs", { ...JOB, backend_id: "sim.gone" }, { "idempotency-key": "once" });
  const first = await send();
  await scene.addVersion({ serviceKey, id: "sim.gone" }, "3.0.0");
  expect((await send()).body).toMatchObject({ id: first.body["id"], backend_version: "2.0.0" });
  for (const version of ["3.0.0", "2.0.0", "1.0.0"])
    await scene.instance.stores.versions.retire(user.organisationId, serviceKey, version);
  expect(await send()).toMatchObject({
    status: 201,
    body: { id: first.body["id"], backend_version: "2.0.0" },
  });
  expect((await call(user, "POST /jobs", { ...JOB, backend_id: "sim.gone" })).status).toBe(404);
});

test("how busy a backend is counts its own jobs, and nothing of another organisation's", async () => {
  const user = await createTestUser(scene.instance);
  const serviceKey = await scene.createBackend(user, "sim.busy");
  await call(user, "POST /jobs", { ...JOB, backend_id: "sim.busy" });
  const { backends } = scene.instance.stores;
  await expect
    .poll(async () => (await backends.readLoad(user.organisationId, [serviceKey])).get(serviceKey))
    .toMatchObject({ waiting: 1 });
  expect((await backends.readLoad(other.organisationId, [serviceKey])).size).toBe(0);
});

test.each(["/jobs", "/workloads", "/service-executions/01234567-89ab-7cde-8f01-23456789abcd/workloads"])(
  "of lists of one organisation (%s) two are read at a time and twenty wait, the rest is refused",
  async (path) => {
    const blocker = await scene.home.database.pool.connect();
    await blocker.query("begin");
    await blocker.query("lock table execution in access exclusive mode");
    const answered: number[] = [];
    const asked = Array.from({ length: 25 }, async () => {
      answered.push((await call(scene.provider, `GET ${path}`)).status);
    });
    try {
      await expect.poll(() => answered).toEqual([429, 429, 429]);
    } finally {
      await blocker.query("rollback");
      blocker.release();
    }
    await Promise.all(asked);
    expect(answered.slice(3)).toEqual(Array.from({ length: 22 }, () => 200));
  },
);

test("a token for the quantum API opens it, and nothing of the platform API", async () => {
  const { identity } = scene.instance;
  const { token } = await identity.createPersonalAccessToken(scene.provider.userId, {
    name: "laptop",
    scopes: ["quantum"],
  });
  const laptop = { ...scene.provider, token };
  expect((await call(laptop, "POST /jobs", JOB)).status).toBe(201);
  expect((await call(laptop, "GET /backends")).status).toBe(200);
  expect(await call(laptop, "DELETE /budgets/EUR")).toMatchObject({
    status: 403,
    body: {
      detail: "This personal access token has the scope quantum; this needs the scope admin.",
    },
  });
  const jobs = await scene.instance.api.inject({ url: "/api/jobs", headers: { "x-auth-token": token } });
  expect(jobs.statusCode).toBe(403);
});

test.each(Object.entries(QUANTUM_API))("%s is refused without a token", async (_id, { method, path }) => {
  const url = `/quantum${path.replaceAll(/\{[a-zA-Z]+\}/gu, "x")}`;
  const response = await scene.instance.api.inject({
    method,
    url,
    headers: { "content-type": "application/json" },
    ...(method === "POST" ? { payload: "{}" } : {}),
  });
  expect([response.statusCode, response.json<object>()]).toEqual([
    401,
    expect.objectContaining({ code: "UNAUTHENTICATED", error: expect.any(String) as unknown }),
  ]);
});

test("a backend is what the latest live version says", async () => {
  const user = await createTestUser(scene.instance);
  const serviceKey = await scene.createBackend(user, "sim.own");
  const qubits = async () => {
    const { body } = await call(user, "GET /backends/sim.own");
    return (body["configuration"] as { readonly qubit_count?: number } | undefined)?.qubit_count ?? null;
  };
  expect(await qubits()).toBe(2);
  const configuration = { ...TEST_DESCRIPTION.configuration, qubit_count: 7 };
  await scene.addVersion({ serviceKey, id: "sim.own" }, "2.1.0", { configuration });
  expect(await qubits()).toBe(7);
  for (const version of ["2.1.0", "2.0.0"])
    await scene.instance.stores.versions.retire(user.organisationId, serviceKey, version);
  expect(await qubits()).toBeNull();
});

test("published clients get no annealer, which they cannot read, and of others all that they require", async () => {
  const user = await createTestUser(scene.instance);
  await scene.createBackend(user, "sim.gates");
  const {
    qubit_count: _count,
    gates: _gates,
    connectivity: _graph,
    ...configuration
  } = TEST_DESCRIPTION.configuration;
  await scene.createBackend(user, "sim.anneals", { type: "ANNEALER", configuration });
  const list = async (query: string) => (await call(user, `GET /backends${query}`)).body;
  expect(await list("")).toMatchObject([{ id: "sim.anneals" }, { id: "sim.gates" }]);
  expect(await list("?onlyPlanqkSdk=True")).toMatchObject([
    {
      id: "sim.gates",
      updated_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/u) as unknown,
      configuration: { gates: [], instructions: [] },
    },
  ]);
});
