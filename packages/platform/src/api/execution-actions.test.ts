import { createExecution, request } from "@platform/engine/testing/execution-fixtures";
import type { Owner } from "@platform/engine/store/owner";
import type { StoreEvent } from "@platform/engine/store/execution-store";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { DAY } from "@platform/engine/base/time";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createHistoryScene } from "../testing/history-scene.ts";
import type { HistoryScene } from "../testing/history-scene.ts";

let scene: HistoryScene;
let call: CallApi;
let job: Owner;
let outgoing: Owner;
let incoming: Owner;

beforeAll(async () => {
  scene = await createHistoryScene();
  call = createApiCaller(scene.instance);
  const { provider, subscriber, own, foreign } = scene;
  const { organisationId } = provider;
  job = { kind: "organisation", id: organisationId, organisationId };
  outgoing = { kind: "subscription", id: own.subscriptionId, organisationId };
  incoming = { kind: "subscription", id: foreign.subscriptionId, organisationId: subscriber.organisationId };
});
afterAll(() => scene?.close());
beforeEach(() => scene.home.database.query({ text: "delete from execution" }));

const start = async (owner: Owner) => {
  const execution = createExecution({ owner, versionId: scene.service.versionId });
  await scene.store.create(execution);
  return execution.id;
};
const cancel = async (body: unknown, user = scene.provider) => call(user, "POST /executions/cancel", body);
const read = async (owner: Owner, id: string) => scene.store.find(id, owner.id);
const listEntries = async () => {
  const { body } = await call(scene.provider, "GET /audit-events?action=executions.cancel");
  return body["items"] as readonly { changes: unknown }[];
};

/** Of these, those whose end is in the feed, or gets its position there. */
async function listNoted(ids: readonly string[]): Promise<readonly string[]> {
  const rows = await scene.home.database.query<{ readonly id: string }>({
    text: `select execution_id as id from (select execution_id, status from feed_new union all select execution_id, status from feed_event) noted
      where execution_id = any ($1::uuid[]) and status = 'FAILED' order by 1`,
    values: [ids],
  });
  return rows.map(({ id }) => id);
}

describe("executions are cancelled", () => {
  test("by their ids: jobs and what own applications have started, and nothing of others", async () => {
    const [first, second, third] = [await start(job), await start(outgoing), await start(incoming)];
    const unknown = createExecution().id;
    const before = (await listEntries()).length;
    const ids = [first, second.toUpperCase(), third, unknown];
    expect(await cancel({ ids })).toEqual({
      status: 200,
      body: { matched: 2, cancelled: 2, finishedMeanwhile: 0 },
    });
    expect(await read(job, first)).toMatchObject({ status: "FAILED", failure: { code: "CANCELLED" } });
    expect(await read(outgoing, second)).toMatchObject({ status: "FAILED" });
    expect(await read(incoming, third)).toMatchObject({ status: "PENDING" });
    expect(await listNoted(ids)).toEqual([first, second]);
    const entries = await listEntries();
    expect(entries).toHaveLength(before + 1);
    expect(entries[0]?.changes).toEqual([{ field: "matched", before: null, after: "2" }]);
    expect((await cancel({ ids })).body).toEqual({ matched: 2, cancelled: 0, finishedMeanwhile: 2 });
    expect(await listEntries()).toHaveLength(before + 1);
    expect((await cancel({ ids }, scene.stranger)).body).toEqual({
      matched: 0,
      cancelled: 0,
      finishedMeanwhile: 0,
    });
  });

  test("that run: their worker is told, here and elsewhere", async () => {
    const id = await start(job);
    const [claim] = (await scene.store.claim(request({ onlyId: id }))).claims;
    const events: StoreEvent[] = [];
    const stop = scene.store.subscribe((event) => events.push(event));
    expect((await cancel({ ids: [id] })).body).toMatchObject({ cancelled: 1 });
    expect(await read(job, id)).toMatchObject({ status: "RUNNING" });
    await waitUntil(() => events.some((event) => event.type === "cancel" && event.id === id));
    stop();
    expect((await scene.store.renew("worker", claim === undefined ? [] : [claim], 60)).cancelled).toEqual([
      id,
    ]);
  });

  test("that wait for their next attempt: their failure says so, as that of one cancelled alone", async () => {
    const execution = createExecution({
      owner: job,
      versionId: scene.service.versionId,
      retries: { onError: { max: 1, backoffSeconds: 600 } },
    });
    await scene.store.create(execution);
    const [claim] = (await scene.store.claim(request({ onlyId: execution.id }))).claims;
    if (claim === undefined) throw new Error("nothing was claimed");
    await scene.store.retry(claim, { status: "FAILED", code: "EXECUTION_ERROR", detail: "busy" }, 600);
    expect((await cancel({ ids: [execution.id] })).body).toMatchObject({ cancelled: 1 });
    expect((await read(job, execution.id))?.failure?.detail).toBe(
      "The execution was cancelled before its next attempt began.",
    );
  });

  test("by a filter, if there are about as many as were expected", async () => {
    const ids = await Promise.all(Array.from({ length: 21 }, () => start(job)));
    const [other, foreign] = [await start(outgoing), await start(incoming)];
    const filter = { kind: "job" };
    const refused = await cancel({ filter, expected: 19 });
    expect(refused).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    expect(String(refused.body["detail"])).toContain(
      "matches 21 executions that have not ended, and 19 were expected",
    );
    expect(await read(job, ids[0] ?? "")).toMatchObject({ status: "PENDING" });
    expect((await cancel({ filter, expected: 20 })).body).toEqual({
      matched: 21,
      cancelled: 21,
      finishedMeanwhile: 0,
    });
    expect(await read(outgoing, other)).toMatchObject({ status: "PENDING" });
    expect((await listEntries())[0]?.changes).toContainEqual({
      field: "filter",
      before: null,
      after: '{"kind":"job"}',
    });
    expect((await cancel({ filter: {}, expected: 10_000 })).body).toMatchObject({ matched: 1, cancelled: 1 });
    expect(await read(incoming, foreign)).toMatchObject({ status: "PENDING" });
    expect((await cancel({ filter: {}, expected: 0 })).body).toEqual({
      matched: 0,
      cancelled: 0,
      finishedMeanwhile: 0,
    });
  });

  test("by a filter that only some of what has not ended matches", async () => {
    const [waiting, running] = [await start(job), await start(job)];
    await scene.store.claim(request({ onlyId: running }));
    const filter = { status: ["PENDING", "SUCCEEDED"], serviceKey: scene.service.serviceKey, q: "planner" };
    expect((await cancel({ filter, expected: 1 })).body).toMatchObject({ matched: 1, cancelled: 1 });
    expect(await read(job, waiting)).toMatchObject({ status: "FAILED" });
    expect(await read(job, running)).toMatchObject({ status: "RUNNING" });
    expect((await cancel({ filter: { status: ["SUCCEEDED"] }, expected: 0 })).body).toMatchObject({
      matched: 0,
    });
  });

  test("in thousands, also old ones, but no more than one request may", async () => {
    const { provider, service, insert, home } = scene;
    const waiting = {
      ownerId: provider.organisationId,
      versionId: service.versionId,
      status: "PENDING" as const,
    };
    await insert(
      Array.from({ length: 1_200 }, (_, index) => ({ ...waiting, at: Date.now() - (index % 40) * DAY })),
    );
    expect((await cancel({ filter: {}, expected: 1_200 })).body).toMatchObject({ cancelled: 1_200 });
    const left = "select count(*)::int as left from execution where status = 'PENDING'";
    expect(await home.database.query({ text: left })).toEqual([{ left: 0 }]);
    await insert(Array.from({ length: 10_001 }, () => ({ ...waiting, at: Date.now() })));
    expect(await cancel({ filter: {}, expected: 10_000 })).toMatchObject({ status: 409 });
    expect(await home.database.query({ text: left })).toEqual([{ left: 10_001 }]);
  });

  test("and settle what they hold of a plan", async () => {
    const { home, own } = scene;
    await home.database.query({
      text: `insert into quota (subscription_id, concurrent, month, used) values ($1, 5, date_trunc('month', now() at time zone 'UTC'), 0)`,
      values: [own.subscriptionId],
    });
    const ids = [await start(outgoing), await start(outgoing)];
    const text = "select unended from quota where subscription_id = $1";
    expect(await home.database.query({ text, values: [own.subscriptionId] })).toEqual([{ unended: 2 }]);
    await cancel({ ids });
    expect(await home.database.query({ text, values: [own.subscriptionId] })).toEqual([{ unended: 0 }]);
    await home.database.query({ text: "delete from quota" });
  });
});

const ID = "0198c1de-7a53-7000-8000-000000000000";

test.each<readonly [string, unknown, string]>([
  ["nothing", {}, ""],
  ["ids and filter", { ids: [ID], filter: {} }, "/filter"],
  ["ids and expected", { ids: [ID], expected: 1 }, "/expected"],
  ["no expected", { filter: {} }, "/expected"],
  ["a negative number", { filter: {}, expected: -1 }, "/expected"],
  ["too high a number", { filter: {}, expected: 10_001 }, "/expected"],
  ["no ids", { ids: [] }, "/ids"],
  ["too many ids", { ids: Array(501).fill(ID) }, "/ids"],
  ["no id", { ids: [ID, "x"] }, "/ids/1"],
  ["incoming ones", { filter: { kind: "incoming" }, expected: 1 }, "/filter/kind"],
  ["an unknown filter", { filter: { tag: "x" }, expected: 1 }, "/filter"],
  ["an unknown state", { filter: { status: ["DONE"] }, expected: 1 }, "/filter/status/0"],
  ["one state as text", { filter: { status: "PENDING" }, expected: 1 }, "/filter/status"],
  ["a malformed time", { filter: { createdAfter: "now" }, expected: 1 }, "/filter/createdAfter"],
])("a cancellation of %s is refused with its place", async (_what, body, path) => {
  expect(await cancel(body)).toMatchObject({
    status: 400,
    body: { code: "INVALID_INPUT", errors: [{ path: expect.stringContaining(path) }] },
  });
});
