import { expect, test } from "vitest";
import { CLASS_WAIT_MINUTES } from "@platform/contract/policy";
import { MINUTE } from "../base/time.ts";
import { BACKEND_PRIORITY } from "../store/kinds.ts";
import type { NewExecution } from "../store/execution-store.ts";
import { createExecution, createUuidAt, emptyQueue, finishAll, read, request } from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";
import { waitUntil } from "./wait-until.ts";

const [LOW, NORMAL, HIGH] = [-1, 0, 1];

/** As it would be if it had been started so long ago. */
function createOld(minutesAgo: number, priority: number): NewExecution {
  return createExecution({ id: createUuidAt(Date.now() - minutesAgo * MINUTE), priority });
}

/** The promises about classes (`priority`); part of the conformance suite of stores. */
export function describeClasses(use: Use): void {
  test("classes are served in their order", async () => {
    const store = use();
    await emptyQueue(store);
    const [low, normal, high] = [LOW, NORMAL, HIGH].map((priority) => createExecution({ priority }));
    if (low === undefined || normal === undefined || high === undefined) throw new Error("There are three.");
    for (const execution of [low, normal, high]) await store.create(execution);
    const { claims } = await store.claim(request());
    expect(claims.map(({ id }) => id)).toEqual([high.id, normal.id, low.id]);
    await finishAll(store, claims);
  });

  test("executions of backends are claimed by workers that run them, and by no others", async () => {
    const store = use();
    await emptyQueue(store);
    const service = createExecution({ priority: HIGH });
    const backend = createExecution({ priority: BACKEND_PRIORITY });
    await store.create(backend);
    expect(await store.claim(request())).toMatchObject({ claims: [], isDrained: true });
    await store.create(service);
    const ofServices = await store.claim(request());
    expect(ofServices.claims.map(({ id }) => id)).toEqual([service.id]);
    const ofBackends = await store.claim(request({ kind: "backend" }));
    expect(ofBackends.claims.map(({ id }) => id)).toEqual([backend.id]);
    await finishAll(store, [...ofServices.claims, ...ofBackends.claims]);
  });

  test("what waits behind executions of backends alone gets no other class", async () => {
    const store = use();
    await emptyQueue(store);
    const late = createOld(CLASS_WAIT_MINUTES + 1, NORMAL);
    const backend = createExecution({ priority: BACKEND_PRIORITY });
    for (const execution of [late, backend]) await store.create(execution);
    await store.sweep();
    await store.releaseDue();
    expect((await read(store, late)).live).toMatchObject({ priority: NORMAL });
    await emptyQueue(store);
  });

  test("what has waited for long behind a higher class gets that class, and nothing gets another by itself", async () => {
    const store = use();
    await emptyQueue(store);
    const late = createOld(CLASS_WAIT_MINUTES + 1, LOW);
    const early = createOld(CLASS_WAIT_MINUTES - 1, LOW);
    const normal = createExecution();
    for (const execution of [late, early, normal]) await store.create(execution);
    // Whichever round it is that promotes.
    await waitUntil(async () => {
      await store.sweep();
      await store.releaseDue();
      const { live } = await read(store, late);
      return live !== undefined && "priority" in live && live.priority === NORMAL;
    });
    expect((await read(store, early)).live).toMatchObject({ priority: LOW });
    const { claims } = await store.claim(request());
    // It takes turns with the others of its new class, and does not go before all of them.
    expect(new Set(claims.slice(0, 2).map(({ id }) => id))).toEqual(new Set([late.id, normal.id]));
    expect(claims.at(-1)?.id).toBe(early.id);
    await finishAll(store, claims);
  });
}
