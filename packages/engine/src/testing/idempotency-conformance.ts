import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createIdempotencyKey } from "../store/idempotency.ts";
import type { ExecutionRecord, NewExecution } from "../store/execution-store.ts";
import { SUCCEEDED, createExecution, createOwner, emptyQueue, request } from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";

const BODY = Buffer.from("{}");

/** A key that nobody else has. */
export const createKey = (name: string = randomUUID(), body: Uint8Array = BODY) =>
  createIdempotencyKey(name, "target", body);

export function describeIdempotency(use: Use): void {
  test("a start with the key of an earlier one creates nothing, and is answered with what that has created, whatever became of it", async () => {
    const store = use();
    await emptyQueue(store);
    const [owner, key] = [createOwner(), createKey()];
    const first = createExecution({ owner, key });
    const created = await store.create(first);
    expect(created).not.toHaveProperty("isRepeated");
    const second = createExecution({ owner, key });
    expect(await store.create(second)).toMatchObject({ ...created, isRepeated: true });
    expect(await store.findStarted(owner.id, key)).toMatchObject({ ...created, isRepeated: true });
    expect(await store.find(second.id, owner.id)).toBeNull();
    const { claims } = await store.claim(request());
    expect(claims.map(({ id }) => id)).toEqual([first.id]);
    for (const claim of claims) await store.finish(claim, SUCCEEDED);
    const again = await store.create(createExecution({ owner, key }));
    expect(again).toMatchObject({ id: first.id, status: "SUCCEEDED", isRepeated: true });
    expect((await store.list(owner.id, { limit: 10 })).items).toHaveLength(1);
  });

  test("the same key with another request is a conflict, of which nothing is created", async () => {
    const store = use();
    const owner = createOwner();
    const { id } = await store.create(createExecution({ owner, key: createKey("k") }));
    const other = createKey("k", Buffer.from("{ }"));
    await expect(store.create(createExecution({ owner, key: other }))).rejects.toMatchObject({
      code: "IDEMPOTENCY_CONFLICT",
      status: 409,
    });
    await expect(store.findStarted(owner.id, other)).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
    expect((await store.list(owner.id, { limit: 10 })).items).toMatchObject([{ id }]);
    await emptyQueue(store);
  });

  test("a key names nothing of another owner", async () => {
    const store = use();
    const key = createKey();
    const owners = [createOwner(), createOwner()];
    const created = await Promise.all(owners.map((owner) => store.create(createExecution({ owner, key }))));
    expect(new Set(created.map(({ id }) => id)).size).toBe(2);
    expect(await store.findStarted(createOwner().id, key)).toBeNull();
    await emptyQueue(store);
  });

  test("a create that is repeated with its id and its key is the same start", async () => {
    const store = use();
    const execution = createExecution({ key: createKey() });
    const record = await store.create(execution);
    const again = await store.create(execution);
    expect(again).toMatchObject(record);
    expect(again.isRepeated).toBeUndefined();
    await emptyQueue(store);
  });

  test("of starts that come at the same moment with few keys one is created for each, and the others are answered with it", async () => {
    const store = use();
    const owners = [createOwner(), createOwner()];
    const keys = Array.from({ length: 5 }, () => createKey());
    const executions: NewExecution[] = [];
    for (let round = 0; round < 20; round++)
      for (const owner of owners) {
        for (const key of keys) executions.push(createExecution({ owner, key }));
        executions.push(createExecution({ owner }));
      }
    const records = await Promise.all(executions.map((execution) => store.create(execution)));
    const ids = new Map<string, Set<string>>();
    const note = (record: ExecutionRecord | undefined, { owner, key }: NewExecution): void => {
      const name = `${owner.id} ${key?.keyHash}`;
      if (record !== undefined) ids.set(name, (ids.get(name) ?? new Set()).add(record.id));
    };
    executions.forEach((execution, index) => note(records[index], execution));
    expect([...ids.values()].map(({ size }) => size).toSorted((a, b) => a - b)).toEqual([
      ...Array.from({ length: 10 }, () => 1),
      20,
      20,
    ]);
    expect(records.filter(({ isRepeated }) => isRepeated !== true)).toHaveLength(50);
    for (const owner of owners) expect((await store.list(owner.id, { limit: 100 })).items).toHaveLength(25);
    await emptyQueue(store);
  });
}
