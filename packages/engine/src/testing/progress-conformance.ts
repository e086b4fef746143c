import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createUuidV7 } from "../base/uuid.ts";
import { MEGABYTE } from "../base/bytes.ts";
import type { ExecutionStore, NewExecution, StoreEvent } from "../store/execution-store.ts";
import {
  FAILED,
  LONG_LEASE,
  SHORT_LEASE,
  SUCCEEDED,
  createExecution,
  emptyQueue,
  loseWorker,
  read,
  request,
  start,
} from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";
import { waitUntil } from "./wait-until.ts";

const HALF = { progress: { fraction: 0.5, message: "half \u{1F600}" }, checkpoint: null };

function keep(text: string) {
  return { progress: null, checkpoint: Buffer.from(text) };
}

async function readCheckpoint(store: ExecutionStore, { id, owner }: NewExecution): Promise<string | null> {
  const bytes = await store.readCheckpoint(id, owner.id);
  return bytes === null ? null : Buffer.from(bytes).toString();
}

export function describeProgress(use: Use): void {
  test("what a run has reported comes with its state, in lists too, and of others nothing does", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const { execution: silent } = await start(store);
    expect(await read(store, execution)).not.toHaveProperty("progress");
    expect(await store.noteProgress(claim, HALF)).toBe(true);
    const { progress } = await read(store, execution);
    expect(progress).toEqual({ ...HALF.progress, at: expect.any(Number), checkpointAt: null });
    expect((await store.list(execution.owner.id, { limit: 1 })).items[0]?.progress).toEqual(progress);
    expect(await read(store, silent)).not.toHaveProperty("progress");
    await emptyQueue(store);
  });

  test("of each kind the newest stays, whatever the other does", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    await store.noteProgress(claim, keep('{"n":1}'));
    expect((await read(store, execution)).progress).toMatchObject({ fraction: null, message: null });
    await store.noteProgress(claim, HALF);
    expect(await readCheckpoint(store, execution)).toBe('{"n":1}');
    await store.noteProgress(claim, keep('{"n":2}'));
    expect((await read(store, execution)).progress).toMatchObject(HALF.progress);
    expect((await read(store, execution)).progress?.checkpointAt).toEqual(expect.any(Number));
    expect(await readCheckpoint(store, execution)).toBe('{"n":2}');
  });

  test("many reports at a time, of one run and of others, are each stored, and none by another", async () => {
    const store = use();
    await emptyQueue(store);
    const executions = Array.from({ length: 40 }, () => createExecution());
    await Promise.all(executions.map((execution) => store.create(execution)));
    const { claims } = await store.claim(request());
    const notes = claims.flatMap((claim) => [
      store.noteProgress(claim, keep(`{"id":"${claim.id}"}`)),
      store.noteProgress(claim, { progress: { fraction: 0.1, message: claim.id }, checkpoint: null }),
      store.noteProgress(claim, { progress: { fraction: 1, message: claim.id }, checkpoint: null }),
    ]);
    expect((await Promise.all(notes)).every(Boolean)).toBe(true);
    for (const execution of executions) {
      const progress = { fraction: 1, message: execution.id };
      expect((await read(store, execution)).progress).toMatchObject(progress);
      expect(await readCheckpoint(store, execution)).toBe(`{"id":"${execution.id}"}`);
    }
  });

  test("a checkpoint of a megabyte comes back byte by byte, to its owner only", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const text = `{"a":"${"x".repeat(MEGABYTE - 8)}"}`;
    await store.noteProgress(claim, keep(text));
    expect(await readCheckpoint(store, execution)).toBe(text);
    expect(await store.readCheckpoint(execution.id, randomUUID())).toBeNull();
    expect(await store.readCheckpoint(createUuidV7(), execution.owner.id)).toBeNull();
    expect(await store.readCheckpoint("nothing", execution.owner.id)).toBeNull();
  });

  test("only who holds the claim of this very attempt reports for an execution", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const { claim: sibling } = await start(store);
    expect(await store.noteProgress({ ...claim, workerId: "another" }, HALF)).toBe(false);
    expect(await store.noteProgress({ ...claim, attempt: 2 }, HALF)).toBe(false);
    expect(await store.noteProgress({ ...sibling, id: claim.id, workerId: "x" }, HALF)).toBe(false);
    expect(await store.noteProgress({ ...claim, id: createUuidV7() }, HALF)).toBe(false);
    expect(await read(store, execution)).not.toHaveProperty("progress");
    await emptyQueue(store);
  });

  test("what was reported stays with the end, also when the worker was lost, and nothing changes it then", async () => {
    const store = use();
    const failed = await start(store);
    const lost = await start(store, {}, SHORT_LEASE);
    for (const { claim } of [failed, lost])
      await store.noteProgress(claim, { ...HALF, ...keep('{"n":1}'), progress: HALF.progress });
    await store.finish(failed.claim, FAILED);
    await loseWorker(store, lost.execution);
    for (const [{ execution, claim }, status] of [
      [failed, "FAILED"],
      [lost, "UNKNOWN"],
    ] as const) {
      const before = await read(store, execution);
      expect(before).toMatchObject({ status, progress: HALF.progress });
      expect(
        await store.noteProgress(claim, { progress: { fraction: 1, message: "" }, checkpoint: null }),
      ).toBe(false);
      expect(await read(store, execution)).toEqual(before);
      expect(await readCheckpoint(store, execution)).toBe('{"n":1}');
    }
  });

  test("a later attempt has nothing of the one before it", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    await store.noteProgress(claim, { ...HALF, ...keep('{"n":1}'), progress: HALF.progress });
    await store.giveBack(claim, 0);
    expect((await read(store, execution)).status).toBe("PENDING");
    const [next] = (await store.claim(request({ leaseSeconds: LONG_LEASE }))).claims;
    if (next === undefined) throw new Error("There was nothing to claim.");
    expect(await read(store, execution)).not.toHaveProperty("progress");
    expect(await readCheckpoint(store, execution)).toBeNull();
    await store.noteProgress(next, { progress: { fraction: 0.25, message: "" }, checkpoint: null });
    expect(await read(store, execution)).toMatchObject({ progress: { fraction: 0.25, checkpointAt: null } });
    expect(await readCheckpoint(store, execution)).toBeNull();
    await store.finish(next, SUCCEEDED);
  });

  test("listeners hear of what was reported, and the record of the end has it", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const events: StoreEvent[] = [];
    const stop = store.subscribe((event) => events.push(event));
    await store.noteProgress(claim, HALF);
    await waitUntil(() => events.some((event) => event.type === "progress" && event.id === execution.id));
    await store.finish(claim, FAILED);
    await waitUntil(() => events.some(({ type }) => type === "changed"));
    stop();
    const ends = events.flatMap((event) => (event.type === "changed" ? [event.record] : []));
    expect(ends).toMatchObject([{ id: execution.id, status: "FAILED", progress: HALF.progress }]);
  });
}
