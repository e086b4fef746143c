import { expect, test } from "vitest";
import { formatTimestamp } from "@platform/contract/execution";
import { SECOND } from "../base/time.ts";
import type { NewExecution, StoreEvent } from "../store/execution-store.ts";
import { getStartBy } from "../store/start-deadline.ts";
import {
  SUCCEEDED,
  createExecution,
  createOwner,
  emptyQueue,
  read,
  request,
  start,
} from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";
import { waitUntil } from "./wait-until.ts";

/** So long that what a test does before is over, and so short that a test can wait for its end. */
const SHORT_SECONDS = 5;

const BUSY = {
  status: "FAILED",
  code: "EXECUTION_ERROR",
  detail: "RuntimeError: busy",
} as const;

/** Waits until it is over. */
async function passDeadline(startBy: number | undefined): Promise<void> {
  await waitUntil(() => Date.now() > (startBy ?? Infinity));
}

/** How it ends. */
const describeEnd = (startBy: number | undefined) => ({
  status: "FAILED",
  startedAt: null,
  endedAt: expect.any(Number),
  failure: {
    code: "START_DEADLINE_EXCEEDED",
    detail: `The execution had not begun by ${formatTimestamp(startBy ?? 0)} UTC, the deadline of its start. User code did not begin, and never will.`,
  },
});

/** The promises about executions that must have begun by some time. */
export function describeDeadlines(use: Use): void {
  test("what has not begun by its deadline is claimed no more, and ends with the next round, once", async () => {
    const store = use();
    await emptyQueue(store);
    const ended: StoreEvent[] = [];
    const execution = createExecution({ startWithinSeconds: 1 });
    const stop = store.subscribe((event) => {
      if (event.type === "changed" && event.id === execution.id) ended.push(event);
    });
    const { createdAt, startBy } = await store.create(execution);
    expect(startBy).toBe(createdAt + 1 * SECOND);
    await passDeadline(startBy);
    expect((await store.claim(request())).claims).toEqual([]);
    expect((await store.claim(request({ onlyId: execution.id }))).claims).toEqual([]);
    expect(await store.expire()).toBe(1);
    const record = await read(store, execution);
    expect(record).toMatchObject(describeEnd(startBy));
    expect(record.endedAt).toBeGreaterThanOrEqual(startBy ?? Infinity);
    expect(await store.expire()).toBe(0);
    expect(await read(store, execution)).toEqual(record);
    expect(ended).toHaveLength(1);
    expect((await store.claim(request())).isDrained).toBe(true);
    stop();
  });

  test("before its deadline it waits, says so, and begins as any other", async () => {
    const store = use();
    await emptyQueue(store);
    const execution = createExecution({ startWithinSeconds: 60 });
    const { startBy } = await store.create(execution);
    await store.expire();
    expect(await read(store, execution)).toMatchObject({ status: "PENDING", startBy });
    expect((await store.list(execution.owner.id, { limit: 10 })).items).toMatchObject([{ startBy }]);
    expect((await store.claim(request())).claims.map(({ id }) => id)).toEqual([execution.id]);
  });

  test("the deadline of what begins later counts from then, and ends it also while it is held", async () => {
    const store = use();
    const owner = createOwner();
    const startAt = Date.now() + SHORT_SECONDS * SECOND;
    const execution = createExecution({ owner, startAt, startWithinSeconds: 1 });
    const past = createExecution({ owner, startAt: Date.now() - 60 * SECOND, startWithinSeconds: 60 });
    expect((await store.create(execution)).startBy).toBe(startAt + 1 * SECOND);
    const { createdAt, startBy } = await store.create(past);
    expect(startBy).toBe(createdAt + 60 * SECOND);
    await waitUntil(() => Date.now() > startAt);
    await store.expire();
    const { status, live } = await read(store, execution);
    const waits = { status: "PENDING", live: { held: "START_AT", startAt } };
    // Nobody has released it. On a slow machine its time may be over.
    const isSlow = Date.now() >= startAt + 1 * SECOND;
    expect(isSlow ? waits : { status, live }).toEqual(waits);
    await passDeadline(startAt + 1 * SECOND);
    await store.expire();
    expect(await read(store, execution)).toMatchObject(describeEnd(startAt + 1 * SECOND));
    expect((await store.releaseDue()).released).toBe(0);
    expect((await read(store, past)).status).toBe("PENDING");
    await store.cancel(past.id, owner.id);
  });

  test("what was claimed by its deadline has begun: nothing ends it but its worker", async () => {
    const store = use();
    const { execution, claim } = await start(store, { startWithinSeconds: SHORT_SECONDS });
    const { startBy } = await read(store, execution);
    await passDeadline(startBy);
    await store.expire();
    expect(await read(store, execution)).toMatchObject({ status: "RUNNING", failure: null });
    expect(await store.finish(claim, SUCCEEDED)).toBe(true);
    expect((await read(store, execution)).status).toBe("SUCCEEDED");
  });

  test("what is given back has not begun, and is bound by its deadline as before", async () => {
    const store = use();
    const { execution, claim } = await start(store, { startWithinSeconds: SHORT_SECONDS });
    expect(await store.giveBack(claim, null)).toBe(true);
    const waiting = await read(store, execution);
    const { startBy } = waiting;
    expect(getStartBy(waiting)).toBe(startBy);
    await passDeadline(startBy);
    expect((await store.claim(request())).claims).toEqual([]);
    await store.expire();
    expect(await read(store, execution)).toMatchObject(describeEnd(startBy));
  });

  test("a further attempt is not bound by the deadline, which the first has met", async () => {
    const store = use();
    const retried: Partial<NewExecution> = { retries: { onError: { max: 1, backoffSeconds: 0 } } };
    const { execution, claim } = await start(store, { ...retried, startWithinSeconds: SHORT_SECONDS });
    const { startBy } = await read(store, execution);
    expect(await store.retry(claim, BUSY, 0)).toBe(true);
    await passDeadline(startBy);
    await store.expire();
    const waiting = await read(store, execution);
    expect([waiting.status, getStartBy(waiting)]).toEqual(["PENDING", null]);
    const { claims } = await store.claim(request());
    expect(claims.map(({ id, attempt }) => [id, attempt])).toEqual([[execution.id, 2]]);
    expect(await store.giveBack(claims[0] ?? claim, 0)).toBe(true);
    await store.expire();
    expect((await store.claim(request())).claims.map(({ id }) => id)).toEqual([execution.id]);
  });
}
