import { formatTimestamp } from "@platform/contract/execution";
import type { NewExecution } from "@platform/engine/store/execution-store";
import { createExecution, request } from "@platform/engine/testing/execution-fixtures";
import { DAY, HOUR, MINUTE, SECOND } from "@platform/engine/base/time";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createHistoryScene } from "../testing/history-scene.ts";
import type { HistoryScene } from "../testing/history-scene.ts";

/** The middle of an hour, so that minutes before and after are in it. */
const NOON = Math.floor(Date.now() / HOUR) * HOUR - 3 * HOUR + 30 * MINUTE;
const format = (time: number) => new Date(time).toISOString().slice(0, 19).replace("T", " ");

describe("counts", () => {
  let scene: HistoryScene;
  let call: CallApi;

  beforeAll(async () => {
    scene = await createHistoryScene();
    call = createApiCaller(scene.instance);
    const { provider, foreign, service } = scene;
    const job = { ownerId: provider.organisationId, versionId: service.versionId };
    await scene.insert([
      ...Array.from({ length: 7 }, (_, index) => ({ ...job, at: NOON - index * SECOND })),
      { ...job, at: NOON, status: "FAILED", code: "TIMEOUT" },
      { ...job, at: NOON - HOUR, status: "FAILED", code: "TIMEOUT" },
      { ...job, at: NOON - 2 * DAY, status: "FAILED", code: "MINE" },
      { ...job, at: NOON - 40 * DAY, status: "UNKNOWN", code: "WORKER_LOST" },
      { ...job, ownerId: foreign.subscriptionId, at: NOON },
    ]);
  });
  afterAll(() => scene?.close());

  const count = async (query: string, user = scene.provider) =>
    (await call(user, `GET /executions/counts?${query}`)).body;

  test("wait for their turn with the lists, and are refused where many of the organisation wait already", async () => {
    const { database } = scene.home;
    const searches = ["GET /executions/counts", "GET /executions", "POST /executions/cancel"] as const;
    const answers: Promise<{ status: number }>[] = [];
    const refused: number[] = [];
    // Who calls is known from then on: the table is not locked for long.
    await count("");
    await database.transaction(async (run) => {
      await run({ text: "lock table execution in access exclusive mode" });
      for (let index = 0; index < 27; index++) {
        const search = searches[index % searches.length] ?? searches[0];
        const body = search.startsWith("POST") ? { filter: { kind: "outgoing" }, expected: 0 } : undefined;
        const answer = call(scene.provider, search, body);
        answers.push(answer);
        void answer.then(({ status }) => status === 429 && refused.push(index));
      }
      // Two run, twenty wait.
      await waitUntil(() => refused.length === 5);
    });
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(22);
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  });

  test("are by state, of the organisation alone, with the filters of lists", async () => {
    expect(await count("")).toEqual({
      items: [
        { key: "SUCCEEDED", status: "SUCCEEDED", count: 8 },
        { key: "FAILED", status: "FAILED", count: 3 },
        { key: "UNKNOWN", status: "UNKNOWN", count: 1 },
      ],
      total: 12,
      isComplete: true,
    });
    expect(await count("kind=job&status=SUCCEEDED&status=UNKNOWN")).toMatchObject({ total: 8 });
    expect(await count("", scene.subscriber)).toMatchObject({ items: [{ count: 1 }], total: 1 });
    expect(await count("", scene.stranger)).toEqual({ items: [], total: 0, isComplete: true });
  });

  test("are by code, the most frequent one first", async () => {
    expect(await count("by=code&kind=job")).toMatchObject({
      items: [
        { key: "", status: "SUCCEEDED", count: 7 },
        { key: "TIMEOUT", count: 2 },
        { key: "WORKER_LOST", status: "UNKNOWN", count: 1 },
        { key: "MINE", count: 1 },
      ],
    });
  });

  test("are by hour and by day, the newest first, of a period that is bounded", async () => {
    const hour = (time: number) => `${format(time).slice(0, 13)}:00:00`;
    expect(await count("by=hour&kind=job")).toMatchObject({
      items: [
        { key: hour(NOON), status: "SUCCEEDED", count: 7 },
        { key: hour(NOON), status: "FAILED", count: 1 },
        { key: hour(NOON - HOUR), status: "FAILED", count: 1 },
      ],
    });
    const days = await count(
      `by=day&kind=job&status=FAILED&createdAfter=${encodeURIComponent(format(NOON - 3 * DAY))}`,
    );
    expect(days["items"]).toContainEqual({
      key: format(NOON - 2 * DAY).slice(0, 10),
      status: "FAILED",
      count: 1,
    });
    expect(await count("by=day&kind=job")).toMatchObject({ total: 10 });
    expect(
      await count(`by=day&kind=job&createdAfter=${encodeURIComponent(format(NOON - 50 * DAY))}`),
    ).toMatchObject({
      total: 11,
    });
    for (const [by, time] of [
      ["hour", NOON - 40 * DAY],
      ["day", NOON - 400 * DAY],
    ] as const)
      expect(
        await call(
          scene.provider,
          `GET /executions/counts?by=${by}&createdAfter=${encodeURIComponent(format(time))}`,
        ),
      ).toMatchObject({
        status: 400,
        body: { errors: [{ path: "/createdAfter" }] },
      });
  });

  test("of codes that users make up are listed up to 200, and say so", async () => {
    const { provider, service, insert } = scene;
    const job = { ownerId: provider.organisationId, versionId: service.versionId };
    await insert(
      Array.from({ length: 250 }, (_, index) => ({
        ...job,
        at: NOON,
        status: "FAILED" as const,
        code: `C${index}`,
      })),
    );
    const { items, ...rest } = await count("by=code&kind=job");
    expect(items).toHaveLength(200);
    expect(rest).toEqual({ total: 261, isComplete: false });
  });

  test.each([
    ["by=month", "/by"],
    ["by=day&by=hour", "/by"],
    ["status=DONE", "/status/0"],
    ["minRanMs=x", "/minRanMs"],
  ])("refuse %s with its place", async (query, path) => {
    expect(await call(scene.provider, `GET /executions/counts?${query}`)).toMatchObject({
      status: 400,
      body: { errors: [{ path }] },
    });
  });

  test("refuse what is a parameter of lists alone", async () => {
    expect((await call(scene.provider, "GET /executions/counts?limit=5")).status).toBe(400);
  });
});

describe("an explanation", () => {
  let scene: HistoryScene;
  let call: CallApi;

  beforeEach(async () => {
    scene = await createHistoryScene();
    call = createApiCaller(scene.instance);
  });
  afterEach(() => scene?.close());

  const startJob = async (
    user = scene.provider,
    service = scene.service,
    more: Partial<NewExecution> = {},
  ) => {
    const { organisationId } = user;
    const owner = { kind: "organisation", id: organisationId, organisationId } as const;
    const execution = createExecution({ owner, versionId: service.versionId, ...more });
    await scene.store.create(execution);
    return execution.id;
  };
  const explain = async (id: string, user = scene.provider) =>
    (await call(user, `GET /executions/${id}/explanation`)).body;
  const report = async (workerId: string, cpu: number) =>
    scene.store.report({
      workerId,
      capacity: { cpu, memory: cpu },
      free: { cpu, memory: cpu },
      excludedVersionIds: [],
      reservedId: null,
      reservesAfterSeconds: null,
    });

  test("follows an execution from the queue to its end, and tells of others nothing but their number", async () => {
    const { store, subscriber, subscriberService, stranger } = scene;
    const foreign = await startJob(subscriber, subscriberService);
    const id = await startJob();
    expect(await explain(id)).toEqual({
      reason: "NO_WORKER",
      text: "No worker is running.",
      ahead: 1,
      needs: { cpu: 1, memory: 1 },
    });
    await report("small", 0.5);
    expect(await explain(id)).toMatchObject({ reason: "NO_WORKER", largestFree: { cpu: 0.5, memory: 0.5 } });
    await report("worker", 1);
    expect(await explain(id)).toMatchObject({
      reason: "BEHIND_OTHERS",
      ahead: 1,
      text: "1 execution is before it.",
    });
    expect(JSON.stringify(await explain(id))).not.toContain(foreign);
    await store.claim(request({ onlyId: foreign }));
    expect(await explain(id)).toMatchObject({
      reason: "NO_CAPACITY",
      ahead: 0,
      largestFree: { cpu: 0.5, memory: 0.5 },
    });
    await report("another", 2);
    expect(await explain(id)).toMatchObject({ reason: "NEXT", largestFree: { cpu: 2, memory: 2 } });
    const [claim] = (await store.claim(request({ onlyId: id, workerId: "another" }))).claims;
    if (claim === undefined) throw new Error("It cannot be claimed.");
    await store.notePreparing(claim, true);
    expect(await explain(id)).toMatchObject({ reason: "PREPARING" });
    await store.notePreparing(claim, false);
    expect(await explain(id)).toMatchObject({ reason: "CLAIMED" });
    await store.notePreparing(claim, true);
    await store.giveBack(claim, 60);
    expect(await explain(id)).toMatchObject({ reason: "DELAYED" });
    await store.cancel(id, scene.provider.organisationId);
    expect(await explain(id)).toMatchObject({ reason: "NOT_WAITING" });
    expect(await explain(id, stranger)).toMatchObject({ code: "EXECUTION_NOT_FOUND" });
  });

  test("names the deadline of its start while that can end it", async () => {
    const { store } = scene;
    const retries = { onError: { max: 1, backoffSeconds: 60 } };
    const id = await startJob(undefined, undefined, { startWithinSeconds: 600, retries });
    const startBy = (await store.find(id, scene.provider.organisationId))?.startBy ?? 0;
    const deadline = formatTimestamp(startBy);
    expect(await explain(id)).toMatchObject({
      reason: "NO_WORKER",
      startBy: deadline,
      text: `No worker is running. If it has not begun by ${deadline} UTC, it ends.`,
    });
    const [claim] = (await store.claim(request({ onlyId: id }))).claims;
    if (claim === undefined) throw new Error("It cannot be claimed.");
    expect(await explain(id)).not.toHaveProperty("startBy");
    // The first attempt has met it, and a further one is not bound by it.
    await store.retry(claim, { status: "FAILED", code: "BUSY", detail: "Busy." }, 60);
    await report("worker", 1);
    const again = await explain(id);
    expect(again).toMatchObject({ reason: "DELAYED" });
    expect(again).not.toHaveProperty("startBy");
  });

  test("knows how long the same executions have typically waited", async () => {
    const { provider, service, insert } = scene;
    const job = { ownerId: provider.organisationId, versionId: service.versionId, at: Date.now() - HOUR };
    await insert([1, 2, 3, 900].map((waitedMs) => ({ ...job, waitedMs })));
    const id = await startJob();
    expect(await explain(id)).not.toHaveProperty("typicalWaitMs");
    await insert([{ ...job, waitedMs: 4_000 }]);
    expect(await explain(id)).toMatchObject({ typicalWaitMs: 3 });
  });
});
