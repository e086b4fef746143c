import { expect, test } from "vitest";
import { SURVEY, isSurveyed } from "../store/survey.ts";
import type { ExecutionStore } from "../store/execution-store.ts";
import {
  LONG_LEASE,
  SUCCEEDED,
  createExecution,
  createOwner,
  emptyQueue,
  read,
  request,
  start,
} from "./execution-fixtures.ts";

/** The promises of an ExecutionStore about what is true of an execution at the moment; part of its conformance suite. */
export function describeLive(use: () => ExecutionStore): void {
  test("a record says while it is not final where it stands, who holds it until when, and whether it is prepared", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const held = (await read(store, execution)).live;
    expect(held).toEqual({ leaseUntil: expect.any(Number), isPreparing: false });
    const left = (held !== undefined && "leaseUntil" in held ? held.leaseUntil : 0) - Date.now();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(2 * LONG_LEASE * 1_000);
    await store.notePreparing(claim, true);
    expect((await read(store, execution)).live).toMatchObject({ isPreparing: true });
    await store.giveBack(claim, 60);
    expect((await read(store, execution)).live).toMatchObject({ priority: 0, isPausing: true });
    const { items } = await store.list(execution.owner.id, { limit: 1 });
    expect(items).toEqual([await read(store, execution)]);
    await store.cancel(execution.id, execution.owner.id);
    expect(await read(store, execution)).not.toHaveProperty("live");
  });

  test("a survey of the queue has its first places in their order, and says how many are before each", async () => {
    const store = use();
    await emptyQueue(store);
    const owner = createOwner();
    const executions = Array.from({ length: SURVEY.all + SURVEY.step }, () => createExecution({ owner }));
    await Promise.all(executions.map((execution) => store.create(execution)));
    const places = await store.surveyQueue();
    expect(places.map(({ ahead }) => ahead)).toEqual(executions.map((_, ahead) => ahead).filter(isSurveyed));
    const { claims } = await store.claim(request({ limit: 3 }));
    expect(claims.map(({ id }) => id)).toEqual(places.slice(0, 3).map(({ id }) => id));
    const [next] = await store.surveyQueue();
    expect(next).toEqual({ ...places[3], ahead: 0 });
    const waiting = executions.find(({ id }) => id === next?.id);
    expect(waiting === undefined ? null : (await read(store, waiting)).live).toMatchObject({
      priority: 0,
      rank: next?.rank,
    });
    for (const claim of claims) await store.finish(claim, SUCCEEDED);
    await emptyQueue(store);
    expect(await store.surveyQueue()).toEqual([]);
  });
}
