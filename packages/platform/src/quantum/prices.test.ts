import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backend } from "@platform/contract/quantum-api/backends";
import { createTestClient, createTestMember, createTestUser, fetchAccessToken } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { TEST_JOB, createQuantumScene, succeedWith } from "../testing/quantum-scene.ts";
import type { QuantumScene } from "../testing/quantum-scene.ts";

/** Two circuits of ten shots: 0.307, and 0.6 for a minute. */
const PRICE = { currency: "EUR", perJob: "0.30", perShot: 0.00035, perSecond: 0.01 };
const JOB = { ...TEST_JOB, backend_id: "qpu.priced", input: { pubs: [{ circuit: "a" }, { circuit: "b" }] } };
const BOUND = "0.907";

let scene: QuantumScene;
let user: TestUser;

beforeAll(async () => {
  scene = await createQuantumScene();
});
afterAll(() => scene?.close());

/** With a backend that has a price. */
async function createPayer(): Promise<TestUser> {
  const payer = await createTestUser(scene.instance);
  await scene.createBackend(payer, "qpu.priced", { price: PRICE });
  return payer;
}

async function start(payer: TestUser, more: object = {}): Promise<string> {
  const { status, body } = await scene.call(payer, "POST /jobs", { ...JOB, ...more });
  expect([status, body["code"]]).toEqual([201, undefined]);
  return String(body["id"]);
}

const read = async (payer: TestUser, id: string) => (await scene.call(payer, `GET /jobs/${id}`)).body;
const readBudget = async (payer: TestUser) =>
  (await scene.call(payer, "GET /budgets")).body as unknown as readonly Record<string, unknown>[];
const countJobs = async (payer: TestUser) => (await scene.call(payer, "GET /jobs")).body["total_elements"];

/** 0.01 for each second. */
const ofSeconds = (job: Readonly<Record<string, unknown>>): number => Number(job["usage_time_millis"]) * 1e-5;

test("a job costs what its shots, circuits and seconds cost, once it has ended", async () => {
  user = await createPayer();
  expect((await scene.call(user, "GET /backends/qpu.priced")).body["price"]).toEqual({
    currency: "EUR",
    per_job: "0.3",
    per_shot: "0.00035",
    per_second: "0.01",
  });
  const id = await start(user);
  expect(await read(user, id)).toMatchObject({ cost: null, currency: "EUR", dry_run: false });
  await scene.runNext(succeedWith({ counts: {} }));
  const job = await read(user, id);
  expect(Number(job["cost"])).toBeCloseTo(0.307 + ofSeconds(job), 9);
  expect((await scene.call(user, "GET /jobs")).body).toMatchObject({
    content: [{ id, cost: job["cost"], currency: "EUR" }],
  });
});

test.each<readonly [string, object, string]>([
  ["shots of a circuit of its own", { input: { pubs: [{ shots: 100 }, {}] } }, "0.3385"],
  ["each set of parameters", { input: { pubs: [{ parameters: { shape: [4, 5] } }, {}] } }, "0.3735"],
  ["several circuits as texts", { input: { qasm: ["a", "b", "c"] } }, "0.3105"],
  ["one circuit as a text", { input: "a" }, "0.3035"],
  // Which list counts is the backend's business: that of the SDK runs pubs where it has any.
  ["of two lists the one with more shots", { input: { pubs: [{}, {}, {}], qasm: ["a"] } }, "0.3105"],
  ["programs with shots of their own", { input: { programs: [{ shots: 100 }, {}] } }, "0.3385"],
  ["those of one program", { input: { source: "a", shots: 100 } }, "0.335"],
  ["those of a program beside lists", { input: { source: "a", shots: 100, qasm: ["a"] } }, "0.335"],
])("%s are counted", async (_what, more, fixed) => {
  user = await createPayer();
  const bound = (Number(fixed) + 0.6).toFixed(4);
  const less = (Number(fixed) + 0.5999).toFixed(4);
  expect(await scene.call(user, "POST /jobs", { ...JOB, ...more, max_cost: less })).toMatchObject({
    status: 400,
    body: { code: "MAX_COST_EXCEEDED" },
  });
  await start(user, { ...more, max_cost: bound });
  await scene.runNext(succeedWith({}));
});

test("a job that did not complete costs its seconds, and nothing if it never ran or the platform is to blame", async () => {
  user = await createPayer();
  const failed = await start(user);
  await scene.runNext({ status: "FAILED", code: "CIRCUIT_INVALID", detail: "It is none." });
  const job = await read(user, failed);
  expect(Number(job["cost"])).toBeCloseTo(ofSeconds(job), 9);
  const lost = await start(user);
  await scene.runNext({ status: "UNKNOWN", code: "WORKER_LOST", detail: "It is gone." });
  expect(await read(user, lost)).toMatchObject({ status: "FAILED", cost: "0" });
  const cancelled = await start(user);
  await scene.call(user, `DELETE /jobs/${cancelled}`);
  expect(await read(user, cancelled)).toMatchObject({ status: "CANCELLED", cost: "0", currency: "EUR" });
});

test("a job that may cost more than it must is refused before anything runs; without a price nothing is too much", async () => {
  user = await createPayer();
  await scene.createBackend(user, "sim.free");
  for (const max of ["0.906999999", 0.906, 0]) {
    const refused = await scene.call(user, "POST /jobs", { ...JOB, max_cost: max });
    expect(refused).toMatchObject({ status: 400, body: { code: "MAX_COST_EXCEEDED" } });
    expect(refused.body["detail"]).toContain(`up to ${BOUND} EUR (with all 60 seconds`);
  }
  expect(await countJobs(user)).toBe(0);
  for (const max of ["1e400", -1, "0.0000000001", 1e-10, "1 EUR"])
    expect(await scene.call(user, "POST /jobs", { ...JOB, max_cost: max })).toMatchObject({
      status: 400,
      body: { code: "INVALID_INPUT" },
    });
  const bounded = await start(user, { max_cost: `${BOUND}00` });
  expect(await read(user, bounded)).toMatchObject({ max_cost: BOUND, cache: false });
  const free = await start(user, { backend_id: "sim.free", max_cost: 0 });
  await scene.runNext(succeedWith({}));
  await scene.runNext(succeedWith({}));
  expect(await read(user, free)).toMatchObject({ cost: "0", max_cost: "0", currency: null });
});

test("shots that have a price must be sent, so that the cost is known", async () => {
  user = await createPayer();
  const { shots: _shots, ...rest } = JOB;
  expect(await scene.call(user, "POST /jobs", rest)).toMatchObject({
    status: 400,
    body: { code: "INVALID_INPUT", errors: [{ path: "/shots" }] },
  });
});

test("shots are counted where the job says them: among the options they are the same number, or the job is refused", async () => {
  user = await createPayer();
  const send = (shots: number | undefined, input_params: object) =>
    scene.call(user, "POST /jobs", { ...JOB, shots, input_params });
  for (const [shots, hidden] of [
    [1, 1_000_000],
    [undefined, 5],
    [5, "5"],
  ] as const)
    expect(await send(shots, { shots: hidden })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "/input_params/shots" }] },
    });
  await start(user, { shots: 5, input_params: { shots: 5 } });
  await scene.runNext(succeedWith({}));
});

test("a dry run asks the backend, says what the job would cost, and is no job", async () => {
  user = await createPayer();
  await scene.call(user, "PUT /budgets/EUR", { amount: 1 });
  const id = await start(user, { dry_run: true, input_params: { seed: 5 } });
  const waiting = await start(user);
  const run = await scene.runNext(succeedWith({ valid: true, warnings: ["It is slow."], seconds: 2.5 }));
  expect(JSON.parse(run.body)).toMatchObject({ params: { seed: 5, shots: 10, dry_run: true } });
  expect(run.id).toBe(id);
  expect(await read(user, id)).toMatchObject({ status: "COMPLETED", dry_run: true, cost: "0" });
  const estimate = async () => (await scene.call(user, `GET /jobs/${id}/result`)).body;
  await expect.poll(estimate).toEqual({
    valid: true,
    warnings: ["It is slow."],
    seconds: 2.5,
    cost: "0.332",
    most_cost: BOUND,
    currency: "EUR",
    queue_position: 1,
  });
  expect((await scene.call(user, "GET /jobs")).body).toMatchObject({
    content: [{ id: waiting }],
    total_elements: 1,
  });
  expect(await readBudget(user)).toMatchObject([{ held: BOUND, spent: "0" }]);
  await scene.runNext(succeedWith({}));
});

test("a dry run has a minute, whatever its backend takes for a job", async () => {
  user = await createTestUser(scene.instance);
  await scene.createBackend(user, "qpu.slow", {}, 600);
  for (const [more, timeoutSeconds] of [
    [{ dry_run: true }, 60],
    [{}, 600],
  ] as const) {
    await start(user, { backend_id: "qpu.slow", ...more });
    expect(await scene.runNext(succeedWith({ valid: true }))).toMatchObject({ timeoutSeconds });
  }
});

test("a backend that does not say how long it takes, or runs the job instead, is told so of", async () => {
  user = await createPayer();
  const silent = await start(user, { dry_run: true });
  await scene.runNext(succeedWith({ valid: true, warnings: [] }));
  expect((await scene.call(user, `GET /jobs/${silent}/result`)).body).toMatchObject({
    seconds: null,
    cost: null,
    most_cost: BOUND,
  });
  const deaf = await start(user, { dry_run: true });
  await scene.runNext(succeedWith({ counts: { "00": 10 } }));
  expect((await scene.call(user, `GET /jobs/${deaf}/result`)).body).toMatchObject({
    valid: false,
    warnings: [expect.stringContaining("does not answer dry runs")],
  });
  const refused = await start(user, { dry_run: true });
  await scene.runNext({ status: "FAILED", code: "TOO_MANY_QUBITS", detail: "It has 3." });
  expect((await scene.call(user, `GET /jobs/${refused}/result`)).body).toMatchObject({
    code: "TOO_MANY_QUBITS",
  });
  expect(await scene.call(user, "POST /jobs", { ...JOB, input_params: { dry_run: true } })).toMatchObject({
    status: 400,
    body: { errors: [{ path: "/input_params/dry_run" }] },
  });
});

test("a backend that does not say that it answers dry runs gets none: it would run the job for nothing", async () => {
  user = await createPayer();
  await scene.createBackend(user, "sim.silent", { dry_run: false });
  await scene.home.database.query({
    text: "update version v set backend = v.backend #- '{description,dry_run}' from service s where s.key = v.service_key and s.organisation_id = $1 and s.backend_id = 'qpu.priced'",
    values: [user.organisationId],
  });
  await scene.createBackend(user, "sim.speaking", { dry_run: true });
  const listed = (await scene.call(user, "GET /backends")).body as unknown as readonly Backend[];
  expect(listed.map(({ id, dry_run }) => [id, dry_run])).toEqual([
    ["qpu.priced", false],
    ["sim.silent", false],
    ["sim.speaking", true],
  ]);
  for (const id of ["qpu.priced", "sim.silent"])
    expect(await scene.call(user, "POST /jobs", { ...JOB, backend_id: id, dry_run: true })).toMatchObject({
      status: 400,
      body: { code: "INVALID_INPUT", errors: [{ path: "/dry_run" }] },
    });
  await expect(scene.runNext(null)).rejects.toThrow("No job waits.");
});

test("what has a price is started by the quantum API alone, which counts it: not as a job, in a batch, by a schedule, or for an application", async () => {
  user = await createPayer();
  await scene.call(user, "PUT /budgets/EUR", { amount: 0 });
  const { instance } = scene;
  const serviceName = "qpu-priced";
  const [service] = await scene.home.database.query<{ readonly key: string }>({
    text: "select key from service where organisation_id = $1 and name = $2",
    values: [user.organisationId, serviceName],
  });
  const serviceKey = service?.key ?? "";
  const client = await createTestClient(instance, user, {
    serviceKey,
    serviceName,
    version: "2.0.0",
    versionId: "",
  });
  const authorization = `Bearer ${await fetchAccessToken(instance, client)}`;
  const body = { data: { pubs: [{}] }, params: { shots: 10 } };
  const send = async (
    url: string,
    payload: object,
    headers: Readonly<Record<string, string>>,
    of = instance.api,
  ) => {
    const answer = await of.inject({ method: "POST", url, headers, payload });
    return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
  };
  const own = { "x-auth-token": user.token };
  const refused = {
    status: 400,
    body: { code: "INVALID_INPUT", detail: expect.stringContaining("POST /quantum/jobs") as unknown },
  };
  for (const headers of [{}, { prefer: "dry-run" }]) {
    const jobs = await send(`/api/jobs?serviceKey=${serviceKey}`, body, { ...own, ...headers });
    const called = { authorization, ...headers };
    const path = `/${serviceKey}/${serviceName}/2.0.0/`;
    const member = { ...own, ...headers };
    expect(jobs).toMatchObject(refused);
    expect(await send(path, body, called, instance.gateway)).toMatchObject(refused);
    expect(await send(`/api/subscriptions/${client.subscriptionId}/executions`, body, member)).toMatchObject(
      refused,
    );
  }
  const batch = await send(`/api/jobs/batch?serviceKey=${serviceKey}`, { items: [body, body] }, own);
  expect(batch.body).toMatchObject({ total: 2, refused: 2 });
  // A schedule starts the versions that these find.
  const { versions } = instance.stores;
  expect(await versions.findLatest(user.organisationId, serviceKey)).toMatchObject({ isPriced: true });
  await expect(scene.runNext(null)).rejects.toThrow("No job waits.");
});

test.each<readonly [string, object, object, string]>([
  ["of a circuit with one term", {}, { observables: "ZZ" }, "0.335"],
  ["of each term", {}, { observables: [{ ZZ: 1, XX: -0.5 }, "ZI"] }, "0.405"],
  ["of each set of parameters", {}, { observables: "ZZ", parameters: { shape: [3] } }, "0.405"],
  ["of a coarse precision that says more shots", { shots: 200 }, { observables: "ZZ" }, "0.37"],
])("shots that follow from a precision are counted: %s", async (_what, more, pub, fixed) => {
  user = await createPayer();
  const input = { primitive: "estimator", pubs: [{ circuit: "a", ...pub }] };
  const send = async (given: object) =>
    await scene.call(user, "POST /jobs", { ...JOB, shots: 1, ...more, input, ...given });
  const params = { input_params: { precision: 0.1 } };
  const less = (Number(fixed) + 0.5999).toFixed(4);
  expect(await send({ ...params, max_cost: less })).toMatchObject({ body: { code: "MAX_COST_EXCEEDED" } });
  expect((await send({ ...params, max_cost: (Number(fixed) + 0.6).toFixed(4) })).status).toBe(201);
  await scene.runNext(succeedWith({}));
  for (const input_params of [undefined, {}, { precision: 0 }, { precision: "0.1" }, { precision: 1e-30 }])
    expect(await send({ input_params })).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
});

test("a digest says what ran: the same of what is the same, and another of another version, input, option or number of shots", async () => {
  user = await createPayer();
  const digest = async (more: object = {}) => {
    const id = await start(user, more);
    await scene.runNext(succeedWith({}));
    return (await read(user, id))["digest"];
  };
  const first = await digest({ input_params: { seed: 1 } });
  expect(first).toMatch(/^[0-9a-f]{64}$/u);
  expect(await digest({ input_params: { seed: 1 }, name: "again", tags: ["a"], max_cost: 5 })).toBe(first);
  expect(await digest({ input_params: { seed: 1 }, dry_run: true })).toBe(first);
  const others = [
    await digest({ input_params: { seed: 2 } }),
    await digest({ input_params: { seed: 1 }, shots: 11 }),
    await digest({ input_params: { seed: 1 }, input: "b" }),
    await digest(),
  ];
  expect(new Set([first, ...others]).size).toBe(5);
  await scene.createBackend(user, "qpu.other", { price: PRICE });
  expect(await digest({ input_params: { seed: 1 }, backend_id: "qpu.other" })).not.toBe(first);
});

test("jobs that are started at once hold no more than the budget has, and the rest is refused until a job ends", async () => {
  user = await createPayer();
  await scene.call(user, "PUT /budgets/EUR", { amount: "2.5" });
  const answers = await Promise.all(
    Array.from({ length: 10 }, async () => await scene.call(user, "POST /jobs", JOB)),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    201,
    201,
    ...Array.from({ length: 8 }, () => 429),
  ]);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body).toMatchObject({ code: "QUOTA_EXCEEDED" });
  expect(refused?.body["detail"]).toContain("The budget for quantum jobs is 2.5 EUR a month: 0 are spent");
  expect(Number(refused?.headers["retry-after"])).toBeGreaterThan(0);
  expect(await countJobs(user)).toBe(2);
  expect(await readBudget(user)).toMatchObject([
    { currency: "EUR", amount: "2.5", held: "1.814", spent: "0", left: "0.686" },
  ]);
  const { id } = await scene.runNext(succeedWith({}));
  // What the first has cost takes the place of what it held: there is room for the third.
  await start(user);
  const [budget] = await readBudget(user);
  expect(budget).toMatchObject({ held: "1.814", spent: (await read(user, id))["cost"] });
  await scene.runNext(null);
  await scene.runNext(null);
});

test("a start that is repeated with its key, or refused, holds nothing", async () => {
  user = await createPayer();
  await scene.call(user, "PUT /budgets/EUR", { amount: "2" });
  const send = async (more: object) =>
    await scene.call(user, "POST /jobs", { ...JOB, ...more }, { "idempotency-key": "once" });
  const first = await send({});
  expect(await send({})).toMatchObject({ status: 201, body: { id: first.body["id"] } });
  expect(await send({ shots: 11 })).toMatchObject({ status: 409 });
  expect(await readBudget(user)).toMatchObject([{ held: BOUND }]);
  await scene.call(user, "PUT /budgets/EUR", { amount: "1" });
  expect(await send({})).toMatchObject({ status: 201, body: { id: first.body["id"] } });
  expect(await scene.call(user, "POST /jobs", JOB)).toMatchObject({ status: 429 });
  await scene.runNext(succeedWith({}));
});

test("budgets are the owners' to set, and are of one organisation and one currency", async () => {
  user = await createPayer();
  const other = await createPayer();
  await scene.createBackend(user, "qpu.dollar", { price: { currency: "USD", perJob: 5 } });
  expect(await scene.call(user, "PUT /budgets/EUR", { amount: 0 })).toMatchObject({
    status: 200,
    body: { currency: "EUR", amount: "0", month: new Date().toISOString().slice(0, 7), left: "0" },
  });
  expect(await scene.call(user, "POST /jobs", JOB)).toMatchObject({ status: 429 });
  await start(user, { backend_id: "qpu.dollar" });
  await start(other);
  expect(await readBudget(other)).toEqual([]);
  const maintainer = await createTestMember(scene.instance, user.organisationId, "maintainer");
  const there = { "x-organizationid": user.organisationId };
  for (const [request, body] of [
    ["PUT /budgets/EUR", { amount: 9 }],
    ["DELETE /budgets/EUR", undefined],
  ] as const)
    expect(await scene.call(maintainer, request, body, there)).toMatchObject({ status: 403 });
  expect((await scene.call(maintainer, "GET /budgets", undefined, there)).body).toMatchObject([
    { amount: "0" },
  ]);
  for (const request of ["PUT /budgets/euro", "PUT /budgets/EURO"])
    expect(await scene.call(user, request, { amount: 9 })).toMatchObject({ status: 400 });
  expect((await scene.call(user, "DELETE /budgets/EUR")).status).toBe(204);
  expect((await scene.call(user, "DELETE /budgets/EUR")).status).toBe(404);
  await start(user);
  for (let left = 3; left > 0; left--) await scene.runNext(succeedWith({}));
});
