import { expect, test } from "vitest";
import { MAX_SETBACKS } from "../store/execution-store.ts";
import type { Claim } from "../store/execution-store.ts";
import {
  FAILED,
  LONG_LEASE,
  SHORT_LEASE,
  SUCCEEDED,
  emptyQueue,
  finishAll,
  loseWorker,
  read,
  request,
  start,
} from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";

/** What becomes of a claim whose worker was lost before user code began. */
export function describePreparing(use: Use): void {
  test("what a worker was preparing goes back when its lease ends, counts a setback, and is only the next worker's then", async () => {
    const store = use();
    await emptyQueue(store);
    const { execution, claim } = await start(store, {}, SHORT_LEASE);
    expect(await store.notePreparing(claim, true)).toBe(true);
    await loseWorker(store, execution);
    expect(await read(store, execution)).toMatchObject({ status: "PENDING", startedAt: null, failure: null });
    // It comes back from a pause, say: nothing may begin, and nothing is written.
    expect(await store.notePreparing(claim, false)).toBe(false);
    expect(await store.finish(claim, SUCCEEDED)).toBe(false);
    const { claims } = await store.claim(request());
    expect(claims).toMatchObject([{ id: execution.id, attempt: 2, setbacks: 1 }]);
    expect(await store.notePreparing(claim, false)).toBe(false);
    await finishAll(store, claims);
    expect((await read(store, execution)).status).toBe("SUCCEEDED");
  });

  test("what had been prepared may have begun: UNKNOWN when its lease ends, also where an attempt before was still preparing", async () => {
    const store = use();
    await emptyQueue(store);
    const { execution, claim } = await start(store);
    await store.notePreparing(claim, true);
    expect(await store.notePreparing(claim, false)).toBe(true);
    await store.notePreparing(claim, true);
    await store.giveBack(claim, 0);
    const [next] = (await store.claim(request({ leaseSeconds: SHORT_LEASE }))).claims;
    expect(next).toMatchObject({ id: execution.id, attempt: 2 });
    await loseWorker(store, execution);
    expect(await read(store, execution)).toMatchObject({
      status: "UNKNOWN",
      failure: { code: "WORKER_LOST" },
    });
    const other = await start(store, {}, SHORT_LEASE);
    await store.notePreparing(other.claim, true);
    await store.notePreparing(other.claim, false);
    await loseWorker(store, other.execution);
    expect((await read(store, other.execution)).failure?.code).toBe("WORKER_LOST");
  });

  test("what was cancelled while it was prepared is cancelled when its worker is lost", async () => {
    const store = use();
    const { execution, claim } = await start(store, {}, SHORT_LEASE);
    await store.notePreparing(claim, true);
    await store.cancel(execution.id, execution.owner.id);
    await loseWorker(store, execution);
    expect(await read(store, execution)).toMatchObject({ status: "FAILED", failure: { code: "CANCELLED" } });
  });

  test("what no worker outlives to prepare is not tried without end", async () => {
    const store = use();
    await emptyQueue(store);
    const { execution, claim } = await start(store);
    let last: Claim | undefined = claim;
    for (let setbacks = 1; setbacks < MAX_SETBACKS && last !== undefined; setbacks++) {
      await store.giveBack(last, 0);
      const leaseSeconds = setbacks + 1 === MAX_SETBACKS ? SHORT_LEASE : LONG_LEASE;
      last = (await store.claim(request({ leaseSeconds }))).claims[0];
    }
    if (last === undefined) throw new Error("There was nothing to claim.");
    await store.notePreparing(last, true);
    await loseWorker(store, execution);
    expect(await read(store, execution)).toMatchObject({
      status: "FAILED",
      failure: { code: "NOT_STARTED", detail: expect.stringContaining(`in ${MAX_SETBACKS} attempts`) },
    });
    expect(await store.finish(last, FAILED)).toBe(false);
  });
}
