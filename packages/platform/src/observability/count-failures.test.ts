import {
  LONG_LEASE,
  createExecution,
  createOwner,
  request,
} from "@platform/engine/testing/execution-fixtures";
import { waitUntil } from "@platform/engine/testing/wait-until";
import type { Claim, NewExecution } from "@platform/engine/store/execution-store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPostgresExecutionStore } from "../store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { createHistoryStore } from "../store/history/history.ts";
import { createStores } from "../store/stores.ts";
import { createTestClient } from "../testing/fixtures.ts";
import { createHistoryScene } from "../testing/history-scene.ts";
import type { HistoryScene } from "../testing/history-scene.ts";
import { createExecutionMetrics } from "./execution-metrics.ts";
import { createExposition } from "./exposition.ts";

const BUSY = { status: "FAILED", code: "BUSY", detail: "Busy." } as const;

const metrics = createExecutionMetrics(() => 0);
let scene: HistoryScene;
let store: PostgresExecutionStore;

beforeAll(async () => {
  scene = await createHistoryScene();
  store = createPostgresExecutionStore({ database: scene.home.database, noteCancelled: metrics.cancelled });
  store.subscribe((event) => {
    if (event.type === "changed" && event.record !== undefined) metrics.changed(event.record);
  });
});
afterAll(async () => {
  await store?.close();
  await scene?.close();
});

/** By code, without those of which there are none. */
function readCounts(): Readonly<Record<string, number>> {
  const exposition = createExposition();
  metrics.collect(exposition, new Map());
  const lines = exposition.toText().matchAll(/^platform_executions_failed_total\{code="(\w+)"\} (\d+)$/gmu);
  return Object.fromEntries([...lines].flatMap(([, code = "", n]) => (n === "0" ? [] : [[code, Number(n)]])));
}

/** What this process counts meanwhile. */
async function countDuring(work: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> {
  const before = readCounts();
  await work();
  const grown = Object.entries(readCounts()).map(
    ([code, count]) => [code, count - (before[code] ?? 0)] as const,
  );
  return Object.fromEntries(grown.filter(([, count]) => count > 0));
}

async function start(more: Partial<NewExecution> = {}): Promise<NewExecution> {
  const execution = createExecution(more);
  await store.create(execution);
  return execution;
}

async function claim({ id }: NewExecution, leaseSeconds = LONG_LEASE): Promise<Claim> {
  const [claimed] = (await store.claim(request({ onlyId: id, leaseSeconds }))).claims;
  if (claimed === undefined) throw new Error("There was nothing to claim.");
  return claimed;
}

test("what a worker ends counts once, what is retried or succeeds does not", async () => {
  const counted = await countDuring(async () => {
    const retried = await start({ retries: { onError: { max: 1, backoffSeconds: 0 } } });
    await store.retry(await claim(retried), BUSY, 0);
    expect(readCounts()).toEqual({});
    const last = await claim(retried);
    await store.finish(last, { status: "FAILED", code: "TIMEOUT", detail: "Too long." });
    await store.finish(last, { status: "FAILED", code: "TIMEOUT", detail: "Too long." });
    const good = await claim(await start());
    await store.finish(good, { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null });
    await store.finish(await claim(await start()), BUSY);
  });
  expect(counted).toEqual({ TIMEOUT: 1, OTHER: 1 });
});

test("what ends by the deadline of its start, and in place of a lost worker, counts where that is found", async () => {
  const counted = await countDuring(async () => {
    const late = await start({ startWithinSeconds: 600 });
    await scene.home.database.query({
      text: "update execution set start_by = now() - interval '1 second' where id = $1",
      values: [late.id],
    });
    await store.expire();
    await claim(await start(), 0.05);
    await waitUntil(async () => (await store.sweep()) > 0);
  });
  expect(counted).toEqual({ START_DEADLINE_EXCEEDED: 1, WORKER_LOST: 1 });
});

test("a cancellation counts once, where it ends what never began, or with the end of what ran", async () => {
  const counted = await countDuring(async () => {
    const waiting = await start();
    await store.cancel(waiting.id, waiting.owner.id);
    await store.cancel(waiting.id, waiting.owner.id);
    const held = await start({ startAt: Date.now() + 1e7 });
    await store.cancel(held.id, held.owner.id);
    const running = await start();
    const claimed = await claim(running);
    await store.cancel(running.id, running.owner.id);
    // It was not begun: it ends as it is given back.
    await store.giveBack(claimed, 0);
  });
  expect(counted).toEqual({ CANCELLED: 3 });
});

test("cancellations of many count those that end by them, whoever asks for it", async () => {
  const { database } = scene.home;
  const stores = createStores(database, { noteCancelled: metrics.cancelled });
  const history = createHistoryStore(database, metrics.cancelled);
  const { organisationId } = scene.provider;
  const own = createOwner();
  const batch = [await start({ owner: own }), await start({ owner: own }), await start({ owner: own })];
  const [first] = batch;
  if (first === undefined) throw new Error("There are three.");
  await claim(first);
  const cancelBatch = () =>
    store.cancelMany(
      batch.map(({ id }) => id),
      own.id,
    );
  expect(await countDuring(cancelBatch)).toEqual({ CANCELLED: 2 });
  expect(await countDuring(cancelBatch)).toEqual({});

  const job = await start({ owner: { kind: "organisation", id: organisationId, organisationId } });
  const cancelJobs = () => history.cancel({ organisationId, areSubscribersShown: false }, [job.id]);
  expect(await countDuring(cancelJobs)).toEqual({ CANCELLED: 1 });

  const [kept, gone] = [scene.own, await createTestClient(scene.instance, scene.provider, scene.service)];
  for (const { subscriptionId: id } of [kept, gone])
    await start({ owner: { kind: "subscription", id, organisationId } });
  const endSubscription = () => stores.subscriptions.cancel(organisationId, kept.subscriptionId);
  expect(await countDuring(endSubscription)).toEqual({ CANCELLED: 1 });
  const deleteApplication = () => stores.applications.delete(organisationId, gone.applicationId);
  expect(await countDuring(deleteApplication)).toEqual({ CANCELLED: 1 });
});
