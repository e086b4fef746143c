import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createUuidV7 } from "../base/uuid.ts";
import type { Claim } from "../store/execution-store.ts";
import {
  SHORT_LEASE,
  LONG_LEASE,
  SUCCEEDED,
  FAILED,
  NUL_DETAIL,
  VANISHED,
  createExecution,
  createLine,
  emptyQueue,
  loseWorker,
  parseLog,
  read,
  request,
  start,
} from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";
import { waitUntil } from "./wait-until.ts";

export function describeFinish(use: Use): void {
  test("a result comes back byte by byte, with its metadata, to its owner only", async () => {
    const store = use();
    const result = Buffer.from([0x7b, 0x00, 0xff, 0xfe, 0x5c, 0x78, 0x7d]);
    const { execution, claim } = await start(store);
    expect(await store.readResult(execution.id, execution.owner.id)).toBeNull();
    expect(await store.finish(claim, { status: "SUCCEEDED", result, metadata: Buffer.from("{}") })).toBe(
      true,
    );
    const stored = await store.readResult(execution.id, execution.owner.id);
    expect(Buffer.from(stored?.result ?? [])).toEqual(result);
    expect(Buffer.from(stored?.metadata ?? [])).toEqual(Buffer.from("{}"));
    expect(await store.readResult(execution.id, randomUUID())).toBeNull();
    const record = await read(store, execution);
    expect(record).toMatchObject({ status: "SUCCEEDED", failure: null });
    expect(record.endedAt).toBeGreaterThanOrEqual(record.startedAt ?? Infinity);
  });

  test("a result without metadata, and an empty one, are kept as they are", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    await store.finish(claim, { status: "SUCCEEDED", result: Buffer.alloc(0), metadata: null });
    const stored = await store.readResult(execution.id, execution.owner.id);
    expect(stored?.metadata).toBeNull();
    expect(stored?.result.byteLength).toBe(0);
  });

  test.each([FAILED, VANISHED])(
    "an execution that ends $status keeps code and detail and has no result",
    async (outcome) => {
      const store = use();
      const { execution, claim } = await start(store);
      expect(await store.finish(claim, outcome)).toBe(true);
      const failure = outcome.status === "SUCCEEDED" ? null : { code: outcome.code, detail: outcome.detail };
      expect(await read(store, execution)).toMatchObject({ status: outcome.status, failure });
      expect(await store.readResult(execution.id, execution.owner.id)).toBeNull();
    },
  );

  test("what is known of a run that failed is kept, and comes with its state", async () => {
    const store = use();
    const metadata = { _usage: { cpuSeconds: 0.5, peakMemoryBytes: null, sampled: true } };
    const outcome = { status: "FAILED", code: "TIMEOUT", detail: "It took too long.", metadata } as const;
    const { execution, claim } = await start(store);
    const { execution: other, claim: otherClaim } = await start(store);
    await Promise.all([store.finish(claim, outcome), store.finish(otherClaim, FAILED)]);
    const { status: _, ...failure } = outcome;
    expect((await read(store, execution)).failure).toEqual(failure);
    expect((await read(store, other)).failure).not.toHaveProperty("metadata");
    const { items } = await store.list(execution.owner.id, { limit: 1 });
    expect(items[0]?.failure).toEqual(failure);
  });

  test("a detail with characters that text columns cannot hold does not keep an execution from ending", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await store.finish(claim, NUL_DETAIL)).toBe(true);
    expect((await read(store, execution)).failure?.detail).toContain("\u{1F600}");
  });

  test("many executions that end at the same moment each get their own end", async () => {
    const store = use();
    await emptyQueue(store);
    const executions = Array.from({ length: 300 }, () => createExecution());
    await Promise.all(executions.map((execution) => store.create(execution)));
    const claims = (await store.claim(request())).claims;
    const ends = claims.map((claim, index) =>
      store.finish(
        claim,
        index % 3 === 0 ? FAILED : { status: "SUCCEEDED", result: Buffer.from(claim.id), metadata: null },
      ),
    );
    expect((await Promise.all(ends)).every(Boolean)).toBe(true);
    for (const [index, { id, owner }] of claims.entries()) {
      const stored = await store.readResult(id, owner.id);
      expect(stored === null ? null : Buffer.from(stored.result).toString()).toBe(
        index % 3 === 0 ? null : id,
      );
    }
  });

  test("only who holds the claim of this very attempt can end an execution", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await store.finish({ ...claim, workerId: "another" }, FAILED)).toBe(false);
    expect(await store.finish({ ...claim, attempt: 2 }, FAILED)).toBe(false);
    expect(await store.finish({ ...claim, id: createUuidV7() }, FAILED)).toBe(false);
    expect((await read(store, execution)).status).toBe("RUNNING");
    expect(await store.finish(claim, SUCCEEDED)).toBe(true);
  });

  test("an end that is written again, since its answer was lost, counts as written", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect([await store.finish(claim, SUCCEEDED), await store.finish(claim, SUCCEEDED)]).toEqual([
      true,
      true,
    ]);
    expect(await store.finish({ ...claim, workerId: "another" }, SUCCEEDED)).toBe(false);
    expect((await read(store, execution)).status).toBe("SUCCEEDED");
  });

  test("a final state never changes", async () => {
    const store = use();
    const { execution, claim } = await start(store, {}, SHORT_LEASE);
    expect(await store.finish(claim, SUCCEEDED)).toBe(true);
    const before = await read(store, execution);
    expect(await store.giveBack(claim, 0)).toBe(false);
    await store.appendLog(claim, [createLine("too late")]);
    expect(await store.finish(claim, FAILED)).toBe(false);
    expect(await store.cancel(execution.id, execution.owner.id)).toEqual(before);
    expect(await store.renew("worker", [claim], LONG_LEASE)).toEqual({
      lost: [claim.id],
      cancelled: [],
      busy: [],
    });
    await store.sweep();
    expect(await store.create(execution)).toEqual(before);
    expect(await read(store, execution)).toEqual(before);
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([]);
    expect(Buffer.from((await store.readResult(execution.id, execution.owner.id))?.result ?? [])).toEqual(
      Buffer.from('{"sum":3}'),
    );
  });
}

export function describeCancel(use: Use): void {
  test("cancelling a waiting execution ends it at once, and it is never claimed", async () => {
    const store = use();
    await emptyQueue(store);
    const execution = createExecution();
    await store.create(execution);
    const record = await store.cancel(execution.id, execution.owner.id);
    expect(record).toMatchObject({ status: "FAILED", startedAt: null, failure: { code: "CANCELLED" } });
    expect(record?.endedAt).toEqual(expect.any(Number));
    expect(await read(store, execution)).toEqual(record);
    expect((await store.claim(request())).claims).toEqual([]);
  });

  test("cancelling a running execution leaves its end to the worker, who is told when it renews", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await store.renew("worker", [claim], LONG_LEASE)).toEqual({
      lost: [],
      cancelled: [],
      busy: [],
    });
    expect(await store.cancel(execution.id, execution.owner.id)).toMatchObject({
      status: "RUNNING",
      endedAt: null,
    });
    expect(await store.renew("worker", [claim], LONG_LEASE)).toEqual({
      lost: [],
      cancelled: [claim.id],
      busy: [],
    });
    expect(await store.finish(claim, { status: "FAILED", code: "CANCELLED", detail: "Killed." })).toBe(true);
    expect(await read(store, execution)).toMatchObject({ status: "FAILED", failure: { code: "CANCELLED" } });
  });

  test("two cancellations at once are one: both get the state that the execution is in", async () => {
    const store = use();
    await emptyQueue(store);
    const waiting = createExecution();
    await store.create(waiting);
    const twice = ({ id, owner }: typeof waiting) =>
      Promise.all([store.cancel(id, owner.id), store.cancel(id, owner.id)]);
    const ended = await twice(waiting);
    expect(ended).toEqual([await read(store, waiting), await read(store, waiting)]);
    expect(ended[0]).toMatchObject({ status: "FAILED", failure: { code: "CANCELLED" } });
    const { execution, claim } = await start(store);
    expect(await twice(execution)).toMatchObject([{ status: "RUNNING" }, { status: "RUNNING" }]);
    await store.finish(claim, FAILED);
  });

  test("a cancellation and an end at once: the outcome that was written stays, whoever came first", async () => {
    const store = use();
    for (let round = 0; round < 20; round += 1) {
      const { execution, claim } = await start(store);
      const cancel = () => store.cancel(execution.id, execution.owner.id);
      const early = round % 2 === 0 ? cancel() : null;
      const finish = store.finish(claim, SUCCEEDED);
      const record = await (early ?? cancel());
      expect(await finish).toBe(true);
      expect(["RUNNING", "SUCCEEDED"]).toContain(record?.status);
      expect(await cancel()).toMatchObject({ status: "SUCCEEDED", failure: null });
    }
  });

  test("a cancellation and a claim at once: it ends unclaimed, or its worker is told", async () => {
    const store = use();
    await emptyQueue(store);
    for (let round = 0; round < 20; round += 1) {
      const execution = createExecution();
      await store.create(execution);
      const [record, { claims }] = await Promise.all([
        store.cancel(execution.id, execution.owner.id),
        store.claim(request()),
      ]);
      const [claim] = claims;
      expect(record?.status).toBe(claim === undefined ? "FAILED" : "RUNNING");
      if (claim === undefined) continue;
      expect((await store.renew("worker", [claim], LONG_LEASE)).cancelled).toEqual([claim.id]);
      await store.finish(claim, FAILED);
    }
  });

  test("where the worker died after the cancellation, nobody saw the processes end: UNKNOWN, and it stays so", async () => {
    const store = use();
    const { execution } = await start(store, {}, SHORT_LEASE);
    expect(await store.cancel(execution.id, execution.owner.id)).toMatchObject({ status: "RUNNING" });
    await loseWorker(store, execution);
    const record = await read(store, execution);
    expect(record).toMatchObject({ status: "UNKNOWN", failure: { code: "WORKER_LOST" } });
    expect(await store.cancel(execution.id, execution.owner.id)).toEqual(record);
  });

  test("nobody cancels another owner's execution", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await store.cancel(execution.id, randomUUID())).toBeNull();
    expect(await store.renew("worker", [claim], LONG_LEASE)).toEqual({
      lost: [],
      cancelled: [],
      busy: [],
    });
    await store.finish(claim, SUCCEEDED);
  });
}

export function describeLeases(use: Use): void {
  test("a lease that ends makes the execution UNKNOWN, and its worker can write no more", async () => {
    const store = use();
    const { execution, claim } = await start(store, {}, SHORT_LEASE);
    await loseWorker(store, execution);
    const record = await read(store, execution);
    expect(record).toMatchObject({ status: "UNKNOWN", failure: { code: "WORKER_LOST" } });
    expect(record.endedAt).toEqual(expect.any(Number));
    expect(await store.finish(claim, SUCCEEDED)).toBe(false);
    await store.appendLog(claim, [createLine("too late")]);
    expect(await store.renew("worker", [claim], LONG_LEASE)).toEqual({
      lost: [claim.id],
      cancelled: [],
      busy: [],
    });
    expect(await read(store, execution)).toEqual(record);
    expect(await store.readResult(execution.id, execution.owner.id)).toBeNull();
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([]);
    expect((await store.claim(request())).claims).toEqual([]);
  });

  test("a lease that is renewed outlives its first time; one that lasts is not swept", async () => {
    const store = use();
    const short = await start(store, {}, SHORT_LEASE);
    const long = await start(store, {}, LONG_LEASE);
    expect(await store.renew("worker", [short.claim], LONG_LEASE)).toEqual({
      lost: [],
      cancelled: [],
      busy: [],
    });
    // A third one ends, so that sweeping surely came after the first time of the renewed one.
    const witness = await start(store, {}, SHORT_LEASE);
    await loseWorker(store, witness.execution);
    expect((await read(store, witness.execution)).status).toBe("UNKNOWN");
    expect(await store.finish(short.claim, SUCCEEDED)).toBe(true);
    expect(await store.finish(long.claim, SUCCEEDED)).toBe(true);
  });

  test("nobody renews the claim of another worker or attempt", async () => {
    const store = use();
    const { claim } = await start(store);
    expect((await store.renew("another", [{ ...claim, workerId: "another" }], LONG_LEASE)).lost).toEqual([
      claim.id,
    ]);
    expect((await store.renew("worker", [{ ...claim, attempt: 2 }], LONG_LEASE)).lost).toEqual([claim.id]);
    expect(await store.renew("worker", [], LONG_LEASE)).toEqual({ lost: [], cancelled: [], busy: [] });
    await store.finish(claim, SUCCEEDED);
  });
}

export function describeGiveBack(use: Use): void {
  test("what could not be started waits again and is claimed anew, by a new attempt; the old one writes no more", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await store.giveBack(claim, 0)).toBe(true);
    expect(await read(store, execution)).toMatchObject({ status: "PENDING", startedAt: null, endedAt: null });
    expect(await store.finish(claim, SUCCEEDED)).toBe(false);
    await store.appendLog(claim, [createLine("too late")]);
    const [next = claim] = (await store.claim(request({ workerId: "another" }))).claims;
    expect(next).toMatchObject({ id: execution.id, attempt: 2, setbacks: 1, workerId: "another" });
    expect(Buffer.from(next.body)).toEqual(Buffer.from(execution.body));
    expect(await store.finish(claim, SUCCEEDED)).toBe(false);
    expect((await store.renew("worker", [claim], LONG_LEASE)).lost).toEqual([execution.id]);
    expect(await store.finish(next, SUCCEEDED)).toBe(true);
    expect(await read(store, execution)).toMatchObject({ status: "SUCCEEDED" });
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([]);
  });

  test("what was given back is not claimed before its pause is over, and counts as pending meanwhile", async () => {
    const store = use();
    const long = await start(store);
    await store.giveBack(long.claim, 3600);
    const short = createExecution();
    await store.create(short);
    const [claim] = (await store.claim(request())).claims;
    if (claim === undefined) throw new Error("There was nothing to claim.");
    expect(claim.id).toBe(short.id);
    await store.giveBack(claim, 0.05);
    const claimed: Claim[] = [];
    await waitUntil(async () => {
      const answer = await store.claim(request());
      claimed.push(...answer.claims);
      expect(answer.isDrained).toBe(false);
      return claimed.length > 0;
    });
    expect(claimed).toMatchObject([{ id: short.id, attempt: 2, setbacks: 1 }]);
    await Promise.all(claimed.map((each) => store.finish(each, SUCCEEDED)));
    await store.cancel(long.execution.id, long.execution.owner.id);
  });

  test("only who holds the claim of this very attempt gives it back; repeating it says yes and counts once", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await store.giveBack({ ...claim, workerId: "another" }, 0)).toBe(false);
    expect(await store.giveBack({ ...claim, attempt: 2 }, 0)).toBe(false);
    expect((await read(store, execution)).status).toBe("RUNNING");
    expect([await store.giveBack(claim, 0), await store.giveBack(claim, 0)]).toEqual([true, true]);
    const [next] = (await store.claim(request())).claims;
    expect(next?.setbacks).toBe(1);
    expect(await store.giveBack(claim, 0)).toBe(true);
    expect((await read(store, execution)).status).toBe("RUNNING");
    if (next !== undefined) await store.finish(next, SUCCEEDED);
  });

  test("what a worker gives back because it stops may be claimed at once, and that is no setback", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(await read(store, execution)).toMatchObject({ status: "RUNNING", sandboxLevel: "B" });
    expect([await store.giveBack(claim, null), await store.giveBack(claim, null)]).toEqual([true, true]);
    expect(await read(store, execution)).toMatchObject({ status: "PENDING", sandboxLevel: null });
    const [next] = (await store.claim(request({ sandboxLevel: "A" }))).claims;
    expect(next).toMatchObject({ id: execution.id, attempt: 2, setbacks: 0 });
    expect((await read(store, execution)).sandboxLevel).toBe("A");
    if (next !== undefined) await store.finish(next, SUCCEEDED);
  });

  test("what is given back after its cancellation was asked for is cancelled", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    await store.cancel(execution.id, execution.owner.id);
    expect([await store.giveBack(claim, 0), await store.giveBack(claim, 0)]).toEqual([true, true]);
    const record = await read(store, execution);
    expect(record).toMatchObject({ status: "FAILED", startedAt: null, failure: { code: "CANCELLED" } });
    expect(record.endedAt).toEqual(expect.any(Number));
    expect((await store.claim(request())).claims).toEqual([]);
  });

  test("a worker claims nothing of the versions that it cannot start, and others do", async () => {
    const store = use();
    await emptyQueue(store);
    const [sick, sound] = [createExecution(), createExecution()];
    for (const execution of [sick, sound]) await store.create(execution);
    const first = await store.claim(request({ excludedVersionIds: [sick.versionId, randomUUID()] }));
    expect(first.claims.map(({ id }) => id)).toEqual([sound.id]);
    expect(first.isDrained).toBe(false);
    const second = await store.claim(request({ workerId: "another" }));
    expect(second.claims.map(({ id }) => id)).toEqual([sick.id]);
    await Promise.all([...first.claims, ...second.claims].map((claim) => store.finish(claim, SUCCEEDED)));
  });
}
