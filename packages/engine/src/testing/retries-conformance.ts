import { expect, test } from "vitest";
import type { RetryPolicy } from "@platform/contract/retries";
import type { Outcome } from "../python/port/runtime.ts";
import { CANCELLED_BETWEEN, MAX_ATTEMPT_DETAIL } from "../store/retry-rules.ts";
import type { FailedOutcome } from "../store/retry-rules.ts";
import type { Claim, ExecutionStore, NewExecution, StoreEvent } from "../store/execution-store.ts";
import {
  LONG_LEASE,
  SHORT_LEASE,
  SUCCEEDED,
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

const RETRIES: RetryPolicy = { onLost: "retry", onError: { max: 2, backoffSeconds: 0 } };
const BUSY = {
  status: "FAILED",
  code: "EXECUTION_ERROR",
  detail: "RuntimeError: busy",
} as const satisfies Outcome;
const LOST = {
  status: "UNKNOWN",
  code: "WORKER_LOST",
  detail: "The worker stops.",
} as const satisfies FailedOutcome;

async function claimNext(store: ExecutionStore, leaseSeconds = LONG_LEASE): Promise<Claim> {
  const [claim] = (await store.claim(request({ leaseSeconds }))).claims;
  if (claim === undefined) throw new Error("There was nothing to claim.");
  return claim;
}

async function readCheckpoint(store: ExecutionStore, { id, owner }: NewExecution): Promise<string | null> {
  const bytes = await store.readCheckpoint(id, owner.id);
  return bytes === null ? null : Buffer.from(bytes).toString();
}

const keep = (text: string) => ({
  progress: { fraction: 0.5, message: "half" },
  checkpoint: Buffer.from(text),
});

export function describeRetries(use: Use): void {
  describeRetriedErrors(use);
  describeRetriedLosses(use);
  describeWhatAttemptsLeave(use);
}

function describeRetriedErrors(use: Use): void {
  test("what is retried waits again, its attempt is noted, and the next claim has it with the policy", async () => {
    const store = use();
    const { execution, claim } = await start(store, { retries: RETRIES });
    expect(claim.retries).toEqual(RETRIES);
    expect(claim).not.toHaveProperty("attempts");
    const running = await read(store, execution);
    expect(running).not.toHaveProperty("attempts");
    expect(await store.retry(claim, BUSY, 0)).toBe(true);
    const first = {
      number: 1,
      startedAt: running.startedAt,
      endedAt: expect.any(Number),
      code: BUSY.code,
      detail: BUSY.detail,
    };
    const waiting = await read(store, execution);
    expect(waiting).toMatchObject({ status: "PENDING", startedAt: null, endedAt: null, failure: null });
    expect(waiting.attempts).toEqual([first]);
    const second = await claimNext(store);
    expect(second).toMatchObject({ id: execution.id, attempt: 2, setbacks: 0, retries: RETRIES });
    expect(second.attempts).toEqual([first]);
    expect(await store.retry(second, { ...BUSY, code: "CUSTOM" }, 0)).toBe(true);
    const third = await claimNext(store);
    expect(third.attempts?.map(({ number, code }) => [number, code])).toEqual([
      [1, BUSY.code],
      [2, "CUSTOM"],
    ]);
    expect(await store.finish(third, SUCCEEDED)).toBe(true);
    const record = await read(store, execution);
    expect(record).toMatchObject({ status: "SUCCEEDED", failure: null });
    expect(record.attempts).toEqual(third.attempts);
    expect((await store.list(execution.owner.id, { limit: 1 })).items[0]?.attempts).toEqual(third.attempts);
  });

  test("nobody claims it during its pause, and its state says until when that is", async () => {
    const store = use();
    await emptyQueue(store);
    const { execution, claim } = await start(store, { retries: RETRIES });
    const before = Date.now();
    await store.retry(claim, BUSY, 300);
    expect((await store.claim(request())).claims).toEqual([]);
    const { live } = await read(store, execution);
    expect(live).toMatchObject({ isPausing: true, retryAt: expect.any(Number) });
    const retryAt = live !== undefined && "retryAt" in live ? (live.retryAt ?? 0) : 0;
    expect(Math.abs(retryAt - before - 300_000)).toBeLessThan(60_000);
    await store.cancel(execution.id, execution.owner.id);
  });

  test("who could not be started in a later attempt waits for that, not for the attempt", async () => {
    const store = use();
    const { execution, claim } = await start(store, { retries: RETRIES });
    await store.retry(claim, BUSY, 0);
    await store.giveBack(await claimNext(store), 300);
    const { live, attempts } = await read(store, execution);
    expect(live).toMatchObject({ isPausing: true });
    expect(live).not.toHaveProperty("retryAt");
    expect(attempts).toHaveLength(1);
    await store.cancel(execution.id, execution.owner.id);
  });

  test("only who holds the claim of this very attempt retries it; repeating it says yes and counts once", async () => {
    const store = use();
    const { execution, claim } = await start(store, { retries: RETRIES });
    expect(await store.retry({ ...claim, workerId: "another" }, BUSY, 0)).toBe(false);
    expect(await store.retry({ ...claim, attempt: 2 }, BUSY, 0)).toBe(false);
    expect((await read(store, execution)).status).toBe("RUNNING");
    expect([await store.retry(claim, BUSY, 0), await store.retry(claim, BUSY, 0)]).toEqual([true, true]);
    const next = await claimNext(store);
    expect(await store.retry(claim, BUSY, 0)).toBe(true);
    expect(next.attempts).toHaveLength(1);
    expect((await read(store, execution)).status).toBe("RUNNING");
    expect(await store.finish(claim, SUCCEEDED)).toBe(false);
    expect(await store.finish(next, SUCCEEDED)).toBe(true);
    expect(await store.retry(next, BUSY, 0)).toBe(false);
    const record = await read(store, execution);
    expect(record).toMatchObject({ status: "SUCCEEDED" });
    expect(record.attempts).toHaveLength(1);
  });

  test.each([BUSY, LOST])("what was cancelled meanwhile ends with its own $code, once", async (outcome) => {
    const store = use();
    const { execution, claim } = await start(store, { retries: RETRIES });
    await store.cancel(execution.id, execution.owner.id);
    expect([await store.retry(claim, outcome, 0), await store.retry(claim, outcome, 0)]).toEqual([
      true,
      true,
    ]);
    const record = await read(store, execution);
    const { status, code, detail } = outcome;
    expect(record).toMatchObject({ status, failure: { code, detail } });
    expect(record).not.toHaveProperty("attempts");
    expect(record.endedAt).toBeGreaterThanOrEqual(record.startedAt ?? Infinity);
    expect((await store.claim(request())).claims).toEqual([]);
  });

  test("what is cancelled between two attempts ends at once, says so, and keeps its attempts", async () => {
    const store = use();
    const { execution, claim } = await start(store, { retries: RETRIES });
    await store.retry(claim, BUSY, 0);
    const record = await store.cancel(execution.id, execution.owner.id);
    expect(record).toMatchObject({
      status: "FAILED",
      failure: { code: "CANCELLED", detail: expect.stringContaining("before its next attempt") },
    });
    expect(record?.attempts).toHaveLength(1);
    expect(await read(store, execution)).toEqual(record);
    expect((await store.claim(request())).claims).toEqual([]);
    expect(await store.retry(claim, BUSY, 0)).toBe(true);
    expect(await read(store, execution)).toEqual(record);
  });

  test("what is cancelled with a batch between two attempts says the same as what is cancelled alone", async () => {
    const store = use();
    const { execution, claim } = await start(store, { retries: RETRIES });
    await store.retry(claim, BUSY, 0);
    await store.cancelMany([execution.id], execution.owner.id);
    const { failure, attempts } = await read(store, execution);
    expect(failure).toEqual(CANCELLED_BETWEEN);
    expect(attempts).toHaveLength(1);
  });

  test("a detail is shortened, and what text columns cannot hold is replaced", async () => {
    const store = use();
    const { execution, claim } = await start(store, { retries: RETRIES });
    await store.retry(claim, { ...BUSY, detail: `a \u{1F600} ${"x".repeat(100_000)}` }, 0);
    const [attempt] = (await read(store, execution)).attempts ?? [];
    expect(attempt?.detail).toHaveLength(MAX_ATTEMPT_DETAIL);
    expect(attempt?.detail.endsWith("x…")).toBe(true);
    expect(await store.retry(await claimNext(store), { ...BUSY, detail: "a \0 b" }, 0)).toBe(true);
    await emptyQueue(store);
  });

  test("listeners hear that it waits again, with its attempts, and that there is something to claim", async () => {
    const store = use();
    const { execution, claim } = await start(store, { retries: RETRIES });
    const events: StoreEvent[] = [];
    const stop = store.subscribe((event) => events.push(event));
    await store.retry(claim, BUSY, 0);
    await waitUntil(() => events.some(({ type }) => type === "pending"));
    stop();
    const changes = events.flatMap((event) => (event.type === "changed" ? [event.record] : []));
    expect(changes).toMatchObject([
      { id: execution.id, status: "PENDING", attempts: [{ number: 1, code: BUSY.code }] },
    ]);
    await emptyQueue(store);
  });
}

function describeRetriedLosses(use: Use): void {
  test("whose worker is lost is started again as often as its service says, and is UNKNOWN then", async () => {
    const store = use();
    const events: StoreEvent[] = [];
    const { execution, claim } = await start(store, { retries: { onLost: "retry" } }, SHORT_LEASE);
    const stop = store.subscribe((event) => events.push(event));
    await loseWorker(store, execution);
    const waiting = await read(store, execution);
    expect(waiting).toMatchObject({ status: "PENDING", startedAt: null, failure: null });
    expect(waiting.attempts).toMatchObject([{ number: 1, code: "WORKER_LOST" }]);
    stop();
    const changes = events.flatMap((event) => (event.type === "changed" ? [event.record] : []));
    expect(changes).toMatchObject([{ status: "PENDING", attempts: [{ number: 1, code: "WORKER_LOST" }] }]);
    // It comes back from a pause, say: it writes nothing any more.
    expect(await store.finish(claim, SUCCEEDED)).toBe(false);
    expect(await store.retry(claim, BUSY, 0)).toBe(false);
    await store.appendLog(claim, [createLine("too late")]);
    expect((await store.renew("worker", [claim], LONG_LEASE)).lost).toEqual([claim.id]);
    const second = await claimNext(store, SHORT_LEASE);
    expect(second).toMatchObject({ id: execution.id, attempt: 2, setbacks: 0 });
    await loseWorker(store, execution);
    const third = await claimNext(store, SHORT_LEASE);
    expect(third.attempts).toMatchObject([{ number: 1 }, { number: 2, code: "WORKER_LOST" }]);
    await loseWorker(store, execution);
    const record = await read(store, execution);
    expect(record).toMatchObject({ status: "UNKNOWN", failure: { code: "WORKER_LOST" } });
    expect(record.attempts).toEqual(third.attempts);
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([]);
    expect((await store.claim(request())).claims).toEqual([]);
  });

  test.each<[string, RetryPolicy | null]>([
    ["nothing", null],
    ["nothing of lost workers", { onError: { max: 9, backoffSeconds: 0 } }],
    ["that it is unknown", { onLost: "unknown", onError: { max: 9, backoffSeconds: 0 } }],
  ])("whose service says %s is UNKNOWN when its worker is lost", async (_, retries) => {
    const store = use();
    const { execution } = await start(store, retries === null ? {} : { retries }, SHORT_LEASE);
    await loseWorker(store, execution);
    const record = await read(store, execution);
    expect(record).toMatchObject({ status: "UNKNOWN", failure: { code: "WORKER_LOST" } });
    expect(record).not.toHaveProperty("attempts");
  });

  test("a lost worker is one of the attempts that its service allows after errors", async () => {
    const store = use();
    const retries: RetryPolicy = { onLost: "retry", onError: { max: 1, backoffSeconds: 0 } };
    const { execution, claim } = await start(store, { retries });
    await store.retry(claim, BUSY, 0);
    await claimNext(store, SHORT_LEASE);
    await loseWorker(store, execution);
    expect(await read(store, execution)).toMatchObject({ status: "UNKNOWN" });
  });

  test("whose cancellation was requested is not started again when its worker is lost", async () => {
    const store = use();
    const { execution } = await start(store, { retries: RETRIES }, SHORT_LEASE);
    await store.cancel(execution.id, execution.owner.id);
    await loseWorker(store, execution);
    expect(await read(store, execution)).toMatchObject({
      status: "UNKNOWN",
      failure: { code: "WORKER_LOST" },
    });
  });

  test("what was still being prepared goes back as ever: that is no attempt", async () => {
    const store = use();
    const { execution, claim } = await start(store, { retries: RETRIES }, SHORT_LEASE);
    await store.notePreparing(claim, true);
    await loseWorker(store, execution);
    const record = await read(store, execution);
    expect(record.status).toBe("PENDING");
    expect(record).not.toHaveProperty("attempts");
    expect(await claimNext(store)).toMatchObject({ id: execution.id, setbacks: 1 });
    await emptyQueue(store);
  });
}

function describeWhatAttemptsLeave(use: Use): void {
  test("the log goes on: lines of all attempts, none of one that is over", async () => {
    const store = use();
    const { execution, claim } = await start(store, { retries: RETRIES });
    await store.appendLog(claim, [createLine("first")]);
    await store.retry(claim, BUSY, 0);
    const next = await claimNext(store);
    await store.appendLog(claim, [createLine("too late")]);
    await store.appendLog(next, [createLine("second")]);
    await store.finish(next, SUCCEEDED);
    const lines = parseLog(await store.readLog(execution.id, execution.owner.id));
    expect(lines?.map(({ message }) => message)).toEqual(["first", "second"]);
  });

  test("the last checkpoint stays until a later attempt makes one; how far an attempt came does not", async () => {
    const store = use();
    const { execution, claim } = await start(store, { retries: RETRIES });
    await store.noteProgress(claim, keep('{"n":1}'));
    await store.retry(claim, BUSY, 0);
    const kept = { fraction: null, message: null, checkpointAt: expect.any(Number) };
    expect((await read(store, execution)).progress).toMatchObject(kept);
    const next = await claimNext(store);
    expect((await read(store, execution)).progress).toMatchObject(kept);
    expect(await readCheckpoint(store, execution)).toBe('{"n":1}');
    expect(await store.noteProgress(claim, keep('{"n":"stale"}'))).toBe(false);
    await store.noteProgress(next, { progress: { fraction: 0.25, message: "" }, checkpoint: null });
    expect((await read(store, execution)).progress).toMatchObject({ fraction: 0.25 });
    expect(await readCheckpoint(store, execution)).toBe('{"n":1}');
    await store.noteProgress(next, { progress: null, checkpoint: Buffer.from('{"n":2}') });
    expect(await readCheckpoint(store, execution)).toBe('{"n":2}');
    await store.finish(next, BUSY);
    expect((await read(store, execution)).progress).toMatchObject({ fraction: 0.25 });
    expect(await readCheckpoint(store, execution)).toBe('{"n":2}');
  });

  test("an attempt that has kept nothing leaves nothing of how far it came", async () => {
    const store = use();
    const { execution, claim } = await start(store, { retries: RETRIES });
    await store.noteProgress(claim, { progress: { fraction: 0.5, message: "half" }, checkpoint: null });
    await store.retry(claim, BUSY, 0);
    const next = await claimNext(store);
    expect(await read(store, execution)).not.toHaveProperty("progress");
    await store.finish(next, BUSY);
    expect(await readCheckpoint(store, execution)).toBeNull();
  });
}
