import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { formatTimestamp } from "@platform/contract/execution";
import { createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { TEST_JOB, createQuantumScene, succeedWith } from "../testing/quantum-scene.ts";
import type { QuantumScene } from "../testing/quantum-scene.ts";

let scene: QuantumScene;
let other: TestUser;

/** What is read in the background is read every three seconds. */
const PATIENCE = { timeout: 60_000, interval: 200 };

const CALIBRATION = { qubits: [{ id: "0", t1: 1e-4 }], gates: [] };

beforeAll(async () => {
  scene = await createQuantumScene();
  other = await createTestUser(scene.instance);
  await scene.createBackend(scene.provider, "sim.parts");
});
afterAll(() => scene?.close());

const call: QuantumScene["call"] = (...given) => scene.call(...given);

async function start(more: object = {}, user = scene.provider): Promise<string> {
  const { body } = await call(user, "POST /jobs", { ...TEST_JOB, backend_id: "sim.parts", ...more });
  return String(body["id"]);
}

async function run(result: unknown, more: object = {}): Promise<string> {
  const id = await start(more);
  await scene.runNext(succeedWith(result));
  return id;
}

const getNormal = async (id: string) => await call(scene.provider, `GET /jobs/${id}/result/normalized`);

test("a result has one form, whatever its SDK has asked for", async () => {
  const counts = { "001": 10 };
  const normal = {
    status: 200,
    body: { circuits: [{ name: null, index: [], shots: 10, counts }] },
  };
  expect(await getNormal(await run({ counts }))).toMatchObject(normal);
  expect(await getNormal(await run([{ counts }]))).toMatchObject(normal);
  // Options that are too long to be shown come before the one that decides about the order of bits.
  const long = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`a${at}`, "x".repeat(400)]));
  const turned = await run({ counts: { "100": 10 } }, { input_params: { ...long, mode: "sample" } });
  expect(await getNormal(turned)).toMatchObject(normal);
});

test("values and samples come as they are", async () => {
  const pub = { name: "energy", evs: [[1, 0.5]], stds: [[0.1, null]] };
  expect((await getNormal(await run({ pubs: [pub] }))).body).toEqual({
    circuits: [{ index: [], shots: null, ...pub }],
  });
  const sampleset = {
    variable_labels: ["a"],
    sample_data: { data: [[1]] },
    vectors: { energy: { data: [-1.5] } },
  };
  expect((await getNormal(await run({ sampleset }))).body).toEqual({
    samples: [{ values: { a: 1 }, energy: -1.5, occurrences: 1 }],
  });
});

test("what has no normal form is refused, and what has not completed says why", async () => {
  const id = await start();
  expect(await getNormal(id)).toMatchObject({ status: 404, body: { code: "RESULT_NOT_READY" } });
  await scene.runNext({ status: "FAILED", code: "TOO_MANY_QUBITS", detail: "There are two." });
  expect(await getNormal(id)).toMatchObject({
    status: 200,
    body: { code: "TOO_MANY_QUBITS", detail: "There are two." },
  });
  expect(await getNormal(await run({ own: 1 }))).toMatchObject({
    status: 409,
    body: { code: "NO_NORMAL_FORM" },
  });
  expect(await getNormal(await run({ valid: true }, { dry_run: true }))).toMatchObject({
    status: 409,
    body: { code: "NO_NORMAL_FORM" },
  });
});

const follow = async (user: TestUser, id: string, headers: Record<string, string> = {}) =>
  await scene.instance.api.inject({
    url: `/quantum/jobs/${id}/events`,
    headers: { "x-auth-token": user.token, ...headers },
  });

test("a job is followed to its end, as a job", async () => {
  const id = await run({ counts: { "0": 10 } }, { name: "followed" });
  const { headers, body } = await follow(scene.provider, id);
  expect(headers["content-type"]).toContain("text/event-stream");
  const lines = body.split("\n");
  expect(lines.filter((line) => line.startsWith("event: "))).toEqual([
    "event: state",
    "event: state",
    "event: end",
  ]);
  const state = lines.find((line) => line.startsWith("data: ")) ?? "";
  expect(JSON.parse(state.slice("data: ".length))).toMatchObject({
    id,
    backend_id: "sim.parts",
    status: "COMPLETED",
    name: "followed",
  });
  expect((await follow(scene.provider, id, { "last-event-id": "no id" })).statusCode).toBe(400);
});

test("parts of a job of one organisation are none of another", async () => {
  const id = await run({ counts: { "0": 10 } });
  for (const part of ["result/normalized", "calibration"])
    expect(await call(other, `GET /jobs/${id}/${part}`)).toMatchObject({
      status: 404,
      body: { code: "EXECUTION_NOT_FOUND" },
    });
  expect((await follow(other, id)).statusCode).toBe(404);
  expect((await call(other, "GET /backends/sim.parts/calibration-history")).status).toBe(404);
});

test("when a job is likely to begin is told where jobs of its backend have run, and a worker runs such jobs", async () => {
  await scene.store.report({
    workerId: "of backends",
    kind: "backend",
    capacity: { cpu: 1, memory: 8 },
    free: { cpu: 0, memory: 0 },
    excludedVersionIds: [],
    reservedId: null,
    reservesAfterSeconds: null,
  });
  const [fresh, busy] = [await createTestUser(scene.instance), await createTestUser(scene.instance)];
  const read = async (user: TestUser, id: string) => (await call(user, `GET /jobs/${id}`)).body;
  await scene.createBackend(fresh, "sim.queue");
  const unknown = await start({ backend_id: "sim.queue" }, fresh);
  await vi.waitFor(
    async () =>
      expect(await read(fresh, unknown)).toMatchObject({ queue_position: expect.any(Number) as unknown }),
    PATIENCE,
  );
  expect(await read(fresh, unknown)).toMatchObject({ status: "PENDING", estimated_start: null });
  await scene.runNext(succeedWith({}));

  const serviceKey = await scene.createBackend(busy, "sim.queue");
  const [version] = await scene.home.database.query<{ readonly id: string }>({
    text: "select id from version where service_key = $1 order by major desc limit 1",
    values: [serviceKey],
  });
  const at = Date.now() - 60_000;
  await scene.insert([{ ownerId: busy.organisationId, versionId: String(version?.id), at, ranMs: 40_000 }]);
  const id = await start({ backend_id: "sim.queue" }, busy);
  await vi.waitFor(
    async () =>
      expect(await read(busy, id)).toMatchObject({ estimated_start: expect.any(String) as unknown }),
    PATIENCE,
  );
  // In half a run: one is before it at most, on the one place that there is.
  const told = String((await read(busy, id))["estimated_start"]);
  expect(told > formatTimestamp(Date.now() + 10_000)).toBe(true);
  expect((await call(busy, "GET /jobs")).body).toMatchObject({ content: [{ id, estimated_start: null }] });
  await scene.runNext(succeedWith({}));
  expect(await read(busy, id)).toMatchObject({ status: "COMPLETED", estimated_start: null });
});

/** A backend of three versions, of which the second has no calibration; `at`: times before, between and after the first and the third. */
async function createHistory(user: TestUser, id: string) {
  const serviceKey = await scene.createBackend(user, id, { calibration: CALIBRATION });
  await scene.addVersion({ serviceKey, id }, "2.1.0");
  await scene.addVersion({ serviceKey, id }, "2.2.0", { calibration: { ...CALIBRATION, gates: [1] } });
  for (const [minor, day] of [
    [0, "2026-01-01"],
    [1, "2026-02-01"],
    [2, "2026-03-01"],
  ] as const)
    await scene.home.database.query({
      text: "update version set created_at = $3::timestamptz where service_key = $1 and major = 2 and minor = $2 returning id",
      values: [serviceKey, minor, `${day} 00:00:00Z`],
    });
  return serviceKey;
}

test("a job names the calibration of the version that it runs on, whatever its backend says by now", async () => {
  const { provider } = scene;
  const serviceKey = await scene.createBackend(provider, "sim.aging", { calibration: CALIBRATION });
  const id = await start({ backend_id: "sim.aging" });
  await scene.addVersion({ serviceKey, id: "sim.aging" }, "2.1.0", { calibration: { gates: ["new"] } });
  expect((await call(provider, "GET /backends/sim.aging/calibration")).body).toEqual({ gates: ["new"] });
  expect(await call(provider, `GET /jobs/${id}/calibration`)).toMatchObject({
    status: 200,
    body: CALIBRATION,
  });
  await scene.runNext(succeedWith({}));
  expect((await call(provider, `GET /jobs/${await run({})}/calibration`)).status).toBe(204);
});

test("calibrations of a backend are listed by version, and asked for as of a time", async () => {
  const { provider } = scene;
  const serviceKey = await createHistory(provider, "sim.history");
  const list = async (query: string) =>
    (await call(provider, `GET /backends/sim.history/calibration-history${query}`)).body;
  const [newest, oldest] = [
    { backend_version: "2.2.0", calibrated_at: "2026-03-01 00:00:00", calibration: { gates: [1] } },
    {
      backend_version: "2.0.0",
      calibrated_at: "2026-01-01 00:00:00",
      retired_at: null,
      calibration: CALIBRATION,
    },
  ];
  expect(await list("")).toMatchObject({ content: [newest, oldest], last: true });
  expect(await list("?size=1")).toMatchObject({ content: [newest], last: false });
  expect(await list("?size=1&before=2.2.0")).toMatchObject({ content: [oldest], last: true });
  for (const none of ["?before=2.0.0", "?end=2020-01-01%2000:00:00"])
    expect(await list(none)).toEqual({ content: [], last: true });
  expect(await list("?end=2026-03-01%2000:00:00")).toMatchObject({ content: [oldest], last: true });
  expect(await list("?start=2026-01-02%2000:00:00")).toMatchObject({ content: [newest], last: true });
  const at = async (time: string) =>
    await call(provider, `GET /backends/sim.history/calibration?effectiveAt=${encodeURIComponent(time)}`);
  expect((await at("2025-12-31 00:00:00")).status).toBe(204);
  expect((await at("2026-01-15 00:00:00")).body).toEqual(CALIBRATION);
  expect((await at("2026-02-15 00:00:00")).status).toBe(204);
  expect((await at("2026-03-15 00:00:00")).body).toMatchObject({ gates: [1] });
  expect((await at("then")).status).toBe(400);
  // A version that was retired ran new jobs until then.
  await scene.instance.stores.versions.retire(provider.organisationId, serviceKey, "2.2.0");
  expect((await at("2026-03-15 00:00:00")).body).toMatchObject({ gates: [1] });
  expect((await at(formatTimestamp(Date.now() + 60_000))).status).toBe(204);
});

test("calibrations of one moment are on one page each, and none is lost between pages", async () => {
  const { provider } = scene;
  const serviceKey = await createHistory(provider, "sim.moment");
  await scene.addVersion({ serviceKey, id: "sim.moment" }, "2.3.0", { calibration: CALIBRATION });
  await scene.home.database.query({
    text: "update version set created_at = '2026-03-01 00:00:00.7Z' where service_key = $1 returning id",
    values: [serviceKey],
  });
  const listed: unknown[] = [];
  const path = "GET /backends/sim.moment/calibration-history?size=1";
  for (let before = "", last = false; !last; before = `&before=${String(listed.at(-1))}`) {
    const { body } = await call(provider, path + before);
    const [one] = body["content"] as readonly { readonly backend_version: string }[];
    listed.push(one?.backend_version);
    last = body["last"] === true;
  }
  expect(listed).toHaveLength(3);
  expect(new Set(listed)).toEqual(new Set(["2.0.0", "2.2.0", "2.3.0"]));
  expect((await call(provider, `${path}&before=2.1.0`)).status).toBe(200);
  for (const unknown of ["9.0.0", "2", "x", "99999999999.0.0"])
    expect(await call(provider, `${path}&before=${unknown}`)).toMatchObject({
      status: 400,
      body: { code: "INVALID_INPUT" },
    });
});

test("a list of calibrations has a megabyte at most, but one of them whatever its size", async () => {
  const large = { text: "x".repeat(600_000) };
  const serviceKey = await scene.createBackend(scene.provider, "sim.large", { calibration: large });
  await scene.addVersion({ serviceKey, id: "sim.large" }, "2.1.0", {
    calibration: { text: "x".repeat(2_000_000) },
  });
  const list = async (version: string) =>
    (await call(scene.provider, `GET /backends/sim.large/calibration-history?size=${version}`)).body;
  expect(await list("100")).toMatchObject({ content: [{ backend_version: "2.1.0" }], last: false });
  expect((await list("100"))["content"]).toHaveLength(1);
});

/** The versions of `sim.shared` of which a user knows the calibration. */
const listVersions = async (user: TestUser) => {
  const { body } = await call(user, "GET /backends/sim.shared/calibration-history");
  return (body["content"] as readonly { readonly backend_version: string }[]).map(
    (one) => one.backend_version,
  );
};

test("of a backend that is shared, others know the calibrations since then, and the one that was the newest", async () => {
  const { provider } = scene;
  const serviceKey = await createHistory(provider, "sim.shared");
  await scene.home.database.query({
    text: "insert into platform_backend (id, service_key, shared_at) values ('sim.shared', $1, '2026-02-15Z') returning id",
    values: [serviceKey],
  });
  expect(await listVersions(provider)).toEqual(["2.2.0", "2.0.0"]);
  expect(await listVersions(other)).toEqual(["2.2.0"]);
});
