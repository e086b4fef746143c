import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createExecutionTokens } from "../access/execution-tokens.ts";
import { TEST_SECRET } from "../testing/instance.ts";
import { TEST_JOB, createQuantumScene, succeedWith } from "../testing/quantum-scene.ts";
import type { QuantumScene } from "../testing/quantum-scene.ts";
import { pauseAfter, startLeftJobs } from "./left-jobs.ts";
import { createServiceCallers, requireOpenToServices } from "./service-caller.ts";

type Body = Readonly<Record<string, unknown>>;

const JOB = { ...TEST_JOB, backend_id: "sim.echo" };
const tokens = createExecutionTokens(TEST_SECRET);

let scene: QuantumScene;

beforeAll(async () => {
  scene = await createQuantumScene();
  await scene.createBackend(scene.provider, "sim.echo");
});
afterAll(() => scene?.close());

/** An execution of the provider's service that runs, started by the subscriber. */
async function runService(): Promise<{ readonly id: string; readonly token: string }> {
  const [id = ""] = await scene.insert([
    {
      ownerId: scene.foreign.subscriptionId,
      versionId: scene.service.versionId,
      at: Date.now(),
      status: "RUNNING",
    },
  ]);
  return { id, token: tokens.sign({ executionId: id, attempt: 0 }) };
}

async function end(id: string): Promise<void> {
  await scene.home.database.query({
    text: "update execution set status = 'SUCCEEDED', ended_at = now(), lease_until = null where id = $1 returning id",
    values: [id],
  });
}

async function call(token: string, request: string, json?: unknown, headers: Record<string, string> = {}) {
  const [method = "", path = ""] = request.split(" ");
  const response = await scene.instance.api.inject({
    method: method as "GET" | "POST" | "PUT" | "DELETE",
    url: path,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    ...(json === undefined ? {} : { payload: JSON.stringify(json) }),
  });
  return { status: response.statusCode, body: response.body === "" ? {} : response.json<Body>() };
}

const list = (page: Body) => (page["content"] as readonly Body[]).map((job) => job["id"]);

test("an execution starts jobs of the organisation of its service, which name it, and sees no others", async () => {
  const [one, other] = [await runService(), await runService()];
  const started = await call(one.token, "POST /quantum/jobs", JOB);
  expect(started).toMatchObject({ status: 201, body: { service_execution_id: one.id } });
  const job = String(started.body["id"]);
  const { body: ofUser } = await call(scene.provider.token, "POST /quantum/jobs", JOB);
  expect(ofUser).toMatchObject({ service_execution_id: null });
  expect(list((await call(one.token, "GET /quantum/jobs")).body)).toEqual([job]);
  expect(list((await call(one.token, `GET /quantum/jobs?serviceExecutionId=${other.id}`)).body)).toEqual([
    job,
  ]);
  expect(list((await call(other.token, "GET /quantum/jobs")).body)).toEqual([]);
  for (const hidden of [job, String(ofUser["id"])]) {
    for (const part of ["", "/status", "/result", "/input", "/log"])
      expect((await call(other.token, `GET /quantum/jobs/${hidden}${part}`)).status).toBe(404);
    expect((await call(other.token, `DELETE /quantum/jobs/${hidden}`)).status).toBe(404);
  }
  const workloads = (id: string, token: string) =>
    call(token, `GET /quantum/service-executions/${id}/workloads`);
  expect(list((await workloads(one.id, one.token)).body)).toEqual([job]);
  expect((await workloads(one.id, other.token)).status).toBe(404);
  // The organisation sees all.
  expect(list((await workloads(one.id, scene.provider.token)).body)).toEqual([job]);
  expect((await call(scene.subscriber.token, `GET /quantum/jobs/${job}`)).status).toBe(404);
  expect(list((await workloads(one.id, scene.subscriber.token)).body)).toEqual([]);
});

async function startBell({ token }: { readonly token: string }): Promise<unknown> {
  return (await call(token, "POST /quantum/jobs", JOB, { "idempotency-key": "bell" })).body["id"];
}

test("each execution has idempotency keys of its own", async () => {
  const [one, other] = [await runService(), await runService()];
  const first = await startBell(one);
  expect(await startBell(one)).toBe(first);
  const second = await startBell(other);
  expect(second).toEqual(expect.any(String));
  expect(second).not.toBe(first);
});

test("a token opens the quantum API alone", async () => {
  const { token } = await runService();
  expect((await call(token, "GET /quantum/backends")).status).toBe(200);
  for (const path of ["/api/services", "/api/applications", "/api/jobs"])
    expect(await call(token, `GET ${path}`)).toMatchObject({
      status: 401,
      body: { code: "UNAUTHENTICATED" },
    });
  const { serviceKey, serviceName, version } = scene.service;
  const atGateway = await scene.instance.gateway.inject({
    method: "POST",
    url: `/${serviceKey}/${serviceName}/${version}/`,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    payload: "{}",
  });
  expect(atGateway.statusCode).toBe(401);
});

test("a token is worth nothing once its attempt is over, or where it never was one", async () => {
  const { id, token } = await runService();
  const ask = async (shown: string) => (await call(shown, "GET /quantum/backends")).status;
  expect(await ask(token)).toBe(200);
  expect(await ask(tokens.sign({ executionId: id, attempt: 1 }))).toBe(401);
  expect(await ask(`${token.slice(0, -1)}${token.endsWith("A") ? "E" : "A"}`)).toBe(401);
  expect(
    await ask(
      createExecutionTokens({ current: "x".repeat(32), others: [] }).sign({ executionId: id, attempt: 0 }),
    ),
  ).toBe(401);
  const { body } = await call(scene.provider.token, "POST /quantum/jobs", JOB);
  expect(await ask(tokens.sign({ executionId: String(body["id"]), attempt: 0 }))).toBe(401);
  await end(id);
  await expect.poll(async () => await ask(token)).toBe(401);
});

test("whether an attempt runs is looked up once a second, on a clock that the test sets", async () => {
  const { id, token } = await runService();
  let now = 0;
  const services = createServiceCallers(
    { executionTokens: tokens, serviceExecutions: scene.instance.stores.serviceExecutions },
    () => now,
  );
  const ask = async () => await services.authenticate({ "x-auth-token": token });
  expect(await ask()).toMatchObject({ credential: { executionId: id } });
  await end(id);
  now = 999;
  expect(await ask()).toMatchObject({ credential: { executionId: id } });
  now = 1_000;
  await expect(ask()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});

test("a token of an execution of a backend opens nothing", async () => {
  const { body } = await call(scene.provider.token, "POST /quantum/jobs", JOB);
  const id = String(body["id"]);
  await scene.home.database.query({
    text: "update execution set status = 'RUNNING', worker_id = 'w', started_at = now(), lease_until = now() + interval '1 hour' where id = $1 returning id",
    values: [id],
  });
  const token = tokens.sign({ executionId: id, attempt: 0 });
  expect((await call(token, "GET /quantum/backends")).status).toBe(401);
});

test("what an execution has started ends with it, unless it was detached", async () => {
  const { id, token } = await runService();
  const start = async (more: Body) =>
    String((await call(token, "POST /quantum/jobs", { ...JOB, ...more })).body["id"]);
  const [left, detached] = [await start({}), await start({ detached: true })];
  const ofUser = String((await call(scene.provider.token, "POST /quantum/jobs", JOB)).body["id"]);
  const { backends, serviceExecutions } = scene.instance.stores;
  expect(await serviceExecutions.listLeftJobs(10)).toEqual([]);
  await end(id);
  const stop = startLeftJobs({
    backends,
    serviceExecutions,
    executions: scene.instance.executions,
    logger: { warn: () => undefined },
  });
  const read = async (job: string) =>
    (await call(scene.provider.token, `GET /quantum/jobs/${job}/status`)).body["status"];
  await expect.poll(async () => await read(left)).toBe("CANCELLED");
  await stop();
  expect([await read(detached), await read(ofUser)]).toEqual(["PENDING", "PENDING"]);
});

test("what is left is looked for every two seconds, and less often where that takes long", () => {
  expect(pauseAfter(10)).toBeLessThanOrEqual(2_000);
  expect(pauseAfter(10)).toBeGreaterThanOrEqual(1_600);
  expect(pauseAfter(1_000)).toBeGreaterThanOrEqual(15_200);
});

test("a published client is kept waiting for the end of a job for two seconds at most, unless it says what it prefers", async () => {
  const { id, token } = await runService();
  const start = async () => String((await call(token, "POST /quantum/jobs", JOB)).body["id"]);
  const [job, ended] = [await start(), await start()];
  await call(token, `DELETE /quantum/jobs/${ended}`);
  const wait = vi.spyOn(scene.instance.executions, "wait");
  const ask = async (asked: string, headers: Record<string, string>) =>
    (await call(token, `GET /quantum/jobs/${asked}/status`, undefined, headers)).body["status"];
  const waited = () => wait.mock.calls.map(([execution, _owner, seconds]) => [execution, seconds]);
  const [fern, trace] = [{ "x-fern-language": "Python" }, { "x-cloud-trace-context": "0" }];
  for (const headers of [fern, trace]) expect(await ask(ended, headers)).toBe("CANCELLED");
  expect(waited()).toEqual([
    [ended, 2],
    [ended, 2],
  ]);
  wait.mockClear();
  expect([await ask(job, {}), await ask(job, { prefer: "wait=0", ...fern })]).toEqual(["PENDING", "PENDING"]);
  expect(waited()).toEqual([]);
  const answer = ask(job, fern);
  await expect.poll(waited).toEqual([[job, 2]]);
  await call(token, `DELETE /quantum/jobs/${job}`);
  expect(await answer).toBe("CANCELLED");
  wait.mockRestore();
  await end(id);
});

test("an execution opens sessions, which it alone of all executions uses, and which end with it", async () => {
  const [one, other] = [await runService(), await runService()];
  const open = async (token: string) =>
    (await call(token, "POST /quantum/sessions", { backend_id: "sim.echo", ttl: 600 })).body;
  const opened = await open(one.token);
  expect(opened).toMatchObject({ status: "OPEN", service_execution_id: one.id });
  const path = `/quantum/sessions/${String(opened["id"])}`;
  const started = await call(one.token, "POST /quantum/jobs", { ...JOB, session_id: opened["id"] });
  expect(started.body).toMatchObject({ session_id: opened["id"], service_execution_id: one.id });
  const job = String(started.body["id"]);
  expect(list((await call(one.token, `GET ${path}/jobs`)).body)).toEqual([job]);
  const closing: readonly (readonly [string, unknown?])[] = [
    [`PATCH ${path}`, { accept_jobs: false }],
    [`DELETE ${path}`],
    [`POST ${path}/cancel`],
  ];
  const reading = ["", "/status", "/jobs"].map((part) => [`GET ${path}${part}`] as const);
  for (const [request, body] of [...reading, ...closing])
    expect([request, (await call(other.token, request, body)).status]).toEqual([request, 404]);
  const ofUser = await open(scene.provider.token);
  expect(ofUser).toMatchObject({ service_execution_id: null });
  for (const session_id of [opened["id"], ofUser["id"]])
    expect(await call(other.token, "POST /quantum/jobs", { ...JOB, session_id })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "/session_id", message: "There is no such session." }] },
    });
  expect((await call(one.token, `GET /quantum/sessions/${String(ofUser["id"])}`)).status).toBe(404);
  expect((await call(scene.provider.token, `GET ${path}`)).body).toMatchObject({
    status: "ACTIVE",
    closed_at: null,
  });
  for (const token of [one.token, scene.provider.token])
    expect((await call(token, `PATCH ${path}`, { accept_jobs: true })).status).toBe(200);
  // The organisation may use it as well, and the execution does not see that.
  await call(scene.provider.token, "POST /quantum/jobs", { ...JOB, session_id: opened["id"] });
  expect(list((await call(one.token, `GET ${path}/jobs`)).body)).toEqual([job]);
  await end(one.id);
  const { body: left } = await call(scene.provider.token, `GET ${path}`);
  expect(left).toMatchObject({ status: "CLOSED", final: true, accept_jobs: false });
  expect(Date.parse(`${String(left["closed_at"])}Z`)).toBeLessThanOrEqual(Date.now());
  expect((await call(scene.provider.token, `PATCH ${path}`, { accept_jobs: true })).status).toBe(409);
  const late = await call(scene.provider.token, "POST /quantum/jobs", { ...JOB, session_id: opened["id"] });
  expect(late).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
});

test("a session that an execution cancels ends its jobs", async () => {
  const { id, token } = await runService();
  const { body } = await call(token, "POST /quantum/sessions", { backend_id: "sim.echo" });
  const session_id = body["id"];
  const { body: job } = await call(token, "POST /quantum/jobs", { ...JOB, session_id });
  expect((await call(token, `POST /quantum/sessions/${String(session_id)}/cancel`)).status).toBe(204);
  expect((await call(token, `GET /quantum/jobs/${String(job["id"])}/status`)).body).toEqual({
    status: "CANCELLED",
  });
  await end(id);
});

test("an execution reads the normal form and the calibration of its own jobs, and follows none", async () => {
  const [one, other] = [await runService(), await runService()];
  const job = String((await call(one.token, "POST /quantum/jobs", JOB)).body["id"]);
  let ended = "";
  while (ended !== job) ended = (await scene.runNext(succeedWith({ counts: { "01": 10 } }))).id;
  const read = async (token: string, part: string) => await call(token, `GET /quantum/jobs/${job}/${part}`);
  expect(await read(one.token, "result/normalized")).toMatchObject({
    status: 200,
    body: { circuits: [{ counts: { "01": 10 } }] },
  });
  expect((await read(one.token, "calibration")).status).toBe(204);
  expect((await call(one.token, "GET /quantum/backends/sim.echo/calibration-history")).status).toBe(200);
  for (const part of ["result/normalized", "calibration"])
    expect((await read(other.token, part)).status).toBe(404);
  for (const { token } of [one, other])
    expect(await read(token, "events")).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
  for (const request of ["GET /quantum/budgets", "PUT /quantum/budgets/EUR", "DELETE /quantum/budgets/EUR"])
    expect(
      await call(one.token, request, request.startsWith("PUT") ? { amount: 9 } : undefined),
    ).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
});

test("what is not opened to executions is for users, also when it is new", () => {
  expect(() => requireOpenToServices({})).toThrow("This is for users");
  expect(() => requireOpenToServices({ forExecutions: true })).not.toThrow();
});
