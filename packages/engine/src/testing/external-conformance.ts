import { MAX_ATTEMPTS } from "@platform/contract/retries";
import type { StoredRetries } from "@platform/contract/retries";
import { expect, test } from "vitest";
import type { Outcome } from "../python/port/runtime.ts";
import type { FailedOutcome } from "../store/retry-rules.ts";
import type { Claim, ExecutionStore } from "../store/execution-store.ts";
import {
  LONG_LEASE,
  SHORT_LEASE,
  SUCCEEDED,
  emptyQueue,
  loseWorker,
  read,
  request,
  start,
} from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";

const RETRIES: StoredRetries = { resumes: true };
const LOST = {
  status: "UNKNOWN",
  code: "WORKER_LOST",
  detail: "The worker stops.",
} as const satisfies FailedOutcome;
const CANCELLED: Outcome = { status: "FAILED", code: "CANCELLED", detail: "The execution was cancelled." };

async function claimNext(store: ExecutionStore, leaseSeconds = LONG_LEASE): Promise<Claim> {
  const [claim] = (await store.claim(request({ leaseSeconds }))).claims;
  if (claim === undefined) throw new Error("There was nothing to claim.");
  return claim;
}

/** Executions of external backends: what one has begun elsewhere is taken up by the next attempt. */
export function describeExternal(use: Use): void {
  test("a handle is kept for the next attempt, the last one only, and by the holder of the claim only", async () => {
    const store = use();
    await emptyQueue(store);
    const { execution, claim } = await start(store, { retries: RETRIES }, SHORT_LEASE);
    expect(claim).not.toHaveProperty("handle");
    expect(await store.noteHandle({ ...claim, workerId: "another" }, "a")).toBe(false);
    expect(await store.noteHandle({ ...claim, attempt: 2 }, "a")).toBe(false);
    expect([await store.noteHandle(claim, "a"), await store.noteHandle(claim, "b")]).toEqual([true, true]);
    await loseWorker(store, execution);
    expect(await store.noteHandle(claim, "c")).toBe(false);
    const next = await claimNext(store);
    expect(next).toMatchObject({
      id: execution.id,
      attempt: 2,
      handle: "b",
      attempts: [{ code: "WORKER_LOST" }],
    });
    expect(await store.noteHandle(claim, "d")).toBe(false);
    await store.retry(next, LOST, 0);
    const third = await claimNext(store);
    expect(third).toMatchObject({ attempt: 3, handle: "b" });
    expect(await store.finish(third, SUCCEEDED)).toBe(true);
    expect(await store.noteHandle(third, "e")).toBe(false);
  });

  test("one whose worker is lost goes on as long as there are attempts, and is UNKNOWN then", async () => {
    const store = use();
    await emptyQueue(store);
    const { execution } = await start(store, { retries: RETRIES }, SHORT_LEASE);
    for (let attempt = 2; attempt <= MAX_ATTEMPTS; attempt++) {
      await loseWorker(store, execution);
      await claimNext(store, SHORT_LEASE);
    }
    await loseWorker(store, execution);
    const record = await read(store, execution);
    expect(record).toMatchObject({ status: "UNKNOWN", failure: { code: "WORKER_LOST" } });
    expect(record.attempts).toHaveLength(MAX_ATTEMPTS - 1);
  });

  test("one that is cancelled before an attempt has looked after what is elsewhere waits for that, and its worker hears of it", async () => {
    const store = use();
    await emptyQueue(store);
    const { execution } = await start(store, { retries: RETRIES }, SHORT_LEASE);
    await loseWorker(store, execution);
    expect(await store.cancel(execution.id, execution.owner.id)).toMatchObject({ status: "PENDING" });
    await store.cancelMany([execution.id], execution.owner.id);
    const second = await claimNext(store);
    await store.giveBack(second, 0);
    expect(await read(store, execution)).toMatchObject({ status: "PENDING", failure: null });
    const third = await claimNext(store, SHORT_LEASE);
    await store.notePreparing(third, true);
    await loseWorker(store, execution);
    expect((await read(store, execution)).status).toBe("PENDING");
    const last = await claimNext(store);
    expect(await store.renew("worker", [last], LONG_LEASE)).toMatchObject({
      cancelled: [execution.id],
      lost: [],
    });
    expect(await store.finish(last, CANCELLED)).toBe(true);
    expect(await read(store, execution)).toMatchObject({ status: "FAILED", failure: { code: "CANCELLED" } });
  });

  test("one that is cancelled while it runs goes on when its worker is lost", async () => {
    const store = use();
    await emptyQueue(store);
    const { execution, claim } = await start(store, { retries: RETRIES });
    await store.cancel(execution.id, execution.owner.id);
    expect(await store.retry(claim, LOST, 0)).toBe(true);
    expect((await read(store, execution)).status).toBe("PENDING");
    await claimNext(store, SHORT_LEASE);
    await loseWorker(store, execution);
    expect((await read(store, execution)).status).toBe("PENDING");
    const last = await claimNext(store);
    expect(await store.retry(last, { status: "FAILED", code: "BUSY", detail: "It is busy." }, 0)).toBe(true);
    expect(await read(store, execution)).toMatchObject({ status: "FAILED", failure: { code: "BUSY" } });
  });

  test("one that has not begun is cancelled as any other", async () => {
    const store = use();
    await emptyQueue(store);
    const { execution, claim } = await start(store, { retries: RETRIES });
    await store.giveBack(claim, 0);
    expect(await store.cancel(execution.id, execution.owner.id)).toMatchObject({
      status: "FAILED",
      failure: { code: "CANCELLED" },
    });
  });
}
