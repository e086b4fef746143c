import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { ClaimAnswer, ClaimRequest, WorkerReport } from "@platform/engine/store/execution-store";
import { SUCCEEDED, createExecution } from "@platform/engine/testing/execution-fixtures";
import { createTestService, createTestUser } from "../../testing/fixtures.ts";
import { createTestInstance } from "../../testing/instance.ts";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";
import { createBuildStore } from "../builds/builds.ts";
import { createWorkerOperations } from "./operate-workers.ts";
import type { WorkerOperations } from "./operate-workers.ts";

let scene: TestStore;
let workers: WorkerOperations;
let workerId: string;

beforeAll(async () => {
  scene = await createTestStore();
  workers = createWorkerOperations(scene.home.database);
});
afterAll(() => scene.close());
beforeEach(async () => {
  workerId = randomUUID();
  await report();
});
afterEach(async () => {
  await scene.home.database.query({ text: "delete from worker" });
  await scene.home.database.query({
    text: "update execution set held = 'START_AT' where status = 'PENDING'",
  });
});

const CAPACITY = { cpu: 4, memory: 8 };

const report = (more: Partial<WorkerReport> = {}) =>
  scene.store.report({
    workerId,
    capacity: CAPACITY,
    free: CAPACITY,
    excludedVersionIds: [],
    reservedId: null,
    reservesAfterSeconds: 0,
    ...more,
  });

const request = (by = workerId): ClaimRequest => ({
  workerId: by,
  sandboxLevel: "B",
  limit: 8,
  free: CAPACITY,
  leaseSeconds: 60,
  excludedVersionIds: [],
});

test("a worker that drains claims nothing, also not by name; what it runs goes on, and others claim", async () => {
  const [running, waiting] = [createExecution(), createExecution()];
  await scene.store.create(running);
  const { claims } = await scene.store.claim(request());
  expect(claims.map(({ id }) => id)).toEqual([running.id]);
  expect(await workers.setDraining(workerId, true)).toMatchObject({
    id: workerId,
    running: 1,
    used: running.resources,
    capacity: CAPACITY,
  });
  await scene.store.create(waiting);
  expect(await scene.store.claim(request())).toEqual({ claims: [], isDrained: false });
  expect((await scene.store.claim({ ...request(), onlyId: waiting.id })).claims).toEqual([]);
  for (const claim of claims) expect(await scene.store.finish(claim, SUCCEEDED)).toBe(true);
  expect(await workers.list()).toMatchObject([{ running: 0, used: { cpu: 0, memory: 0 } }]);
  const other = await scene.store.claim(request(randomUUID()));
  expect(other.claims.map(({ id }) => id)).toEqual([waiting.id]);
});

test("a start that its own process would claim at once waits for another worker while it drains", async () => {
  const answers: (Promise<ClaimAnswer> | null)[] = [];
  const stop = scene.store.onCreate?.((claim) => void answers.push(claim(request())));
  onTestFinished(() => stop?.());
  await workers.setDraining(workerId, true);
  const [first, ...more] = [createExecution(), createExecution(), createExecution()];
  await scene.store.create(first);
  await Promise.all(more.map((execution) => scene.store.create(execution)));
  for (const { id, owner } of [first, ...more])
    expect(await scene.store.find(id, owner.id)).toMatchObject({ status: "PENDING" });
  for (const answer of answers) expect(await (answer ?? Promise.resolve(null))).toMatchObject({ claims: [] });
});

test("it takes work again when that is taken back, and says so once each", async () => {
  await scene.store.create(createExecution());
  const drained = await workers.setDraining(workerId, true);
  const again = await workers.setDraining(workerId, true);
  expect(again?.drainingSince).toBe(drained?.drainingSince);
  await report();
  expect((await scene.store.claim(request())).claims).toEqual([]);
  expect(await workers.setDraining(workerId, false)).toMatchObject({ drainingSince: null });
  expect((await scene.store.claim(request())).claims).toHaveLength(1);
  expect(await workers.setDraining(randomUUID(), true)).toBeNull();
});

test("its capacity counts for nothing while it drains: no build relies on it, and it makes room for nothing", async () => {
  const large = createExecution({ resources: { cpu: 4, memory: 8 } });
  await scene.store.create(large);
  const busy = { free: { cpu: 1, memory: 1 } };
  expect(await report(busy)).toMatchObject({ id: large.id });
  expect(await scene.store.listWorkers()).toEqual([CAPACITY]);
  await workers.setDraining(workerId, true);
  expect(await scene.store.listWorkers()).toEqual([]);
  expect(await report({ ...busy, reservedId: large.id })).toBeNull();
  expect(await report(busy)).toBeNull();
  expect((await scene.store.measureQueue()).workers).toBe(0);
});

test("another worker may make room for what a worker that drains had reserved", async () => {
  const large = createExecution({ resources: { cpu: 4, memory: 8 } });
  await scene.store.create(large);
  const busy = { free: { cpu: 1, memory: 1 } };
  expect(await report(busy)).toMatchObject({ id: large.id });
  expect(await report({ ...busy, workerId: "other" })).toBeNull();
  await workers.setDraining(workerId, true);
  expect(await report({ ...busy, workerId: "other" })).toMatchObject({ id: large.id });
});

test("a worker that fell silent while it drained still drains when it comes back within a day", async () => {
  await workers.setDraining(workerId, true);
  const silence = (interval: string) =>
    scene.home.database.query({ text: `update worker set seen_at = now() - interval '${interval}'` });
  await silence("23 hours");
  await report({ workerId: "other" });
  expect(await workers.list()).toHaveLength(2);
  expect((await workers.list()).find(({ id }) => id === workerId)).toMatchObject({ isLive: false });
  await report();
  await scene.store.create(createExecution());
  expect((await scene.store.claim(request())).claims).toEqual([]);
  await silence("25 hours");
  await report({ workerId: "other" });
  expect(await workers.list()).toMatchObject([{ id: "other", isLive: true }]);
});

test("no build begins in the process of a worker that drains", async () => {
  const database = scene.home.database;
  const instance = await createTestInstance({ database });
  try {
    const builds = createBuildStore(database);
    const user = await createTestUser(instance);
    const { serviceKey } = await createTestService(instance, user);
    const hash = "1".repeat(64);
    const { organisationId, userId: requestedBy } = user;
    const build = { organisationId, serviceKey, version: "1.0.1", archiveHash: hash, contentHash: hash };
    await builds.create({ ...build, isForced: false, requestedBy });
    await workers.setDraining(workerId, true);
    expect(await builds.claim(workerId, 60)).toBeNull();
    await workers.setDraining(workerId, false);
    expect(await builds.claim(workerId, 60)).toMatchObject({ version: "1.0.1" });
    expect(await workers.list()).toMatchObject([{ builds: 1 }]);
  } finally {
    await instance.close();
  }
});
