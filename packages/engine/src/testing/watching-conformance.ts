import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { StoreEvent } from "../store/execution-store.ts";
import type { Watched } from "../store/watched.ts";
import { SUCCEEDED, createExecution, createLine, emptyQueue, parseLog, start } from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";
import { waitUntil } from "./wait-until.ts";

/** What a stream of one execution needs of the store. */
export function describeWatching(use: Use): void {
  test("whoever watches executions learns by one question which of its own have another state or more lines", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const { id, owner } = execution;
    const waiting = createExecution();
    await store.create(waiting);
    const watch = (more: Partial<Watched> = {}): Watched => ({
      id,
      ownerId: owner.id,
      status: "RUNNING",
      logPosition: null,
      ...more,
    });
    const seen = { id: waiting.id, ownerId: waiting.owner.id, status: "PENDING", logPosition: null } as const;
    expect(await store.readChanges([])).toEqual([]);
    expect(await store.readChanges([watch(), seen])).toEqual([]);
    expect(await store.readChanges([watch({ status: "PENDING" }), seen])).toMatchObject([
      { record: { id, status: "RUNNING" }, hasMoreLog: false },
    ]);
    const before = (await store.readLog(id, owner.id))?.position ?? "";
    expect(await store.readChanges([watch({ logPosition: before })])).toEqual([]);
    await store.appendLog(claim, [createLine("one")]);
    expect(await store.readChanges([watch()])).toEqual([]);
    expect(await store.readChanges([watch({ logPosition: before })])).toMatchObject([
      { record: { id }, hasMoreLog: true },
    ]);
    const page = await store.readLog(id, owner.id, before);
    expect(await store.readChanges([watch({ logPosition: page?.position ?? "" })])).toEqual([]);
    const another = randomUUID();
    expect(
      await store.readChanges([watch({ ownerId: another, status: "PENDING", logPosition: before })]),
    ).toEqual([]);
    await store.finish(claim, SUCCEEDED);
    expect(await store.readChanges([watch()])).toMatchObject([{ record: { id, status: "SUCCEEDED" } }]);
    await emptyQueue(store);
  });

  test("a log is read in small pages as well, and its last position is behind its last line", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const { id, owner } = execution;
    for (const message of ["one", "two", "three"]) await store.appendLog(claim, [createLine(message)]);
    await store.finish(claim, SUCCEEDED);
    const messages: (readonly string[])[] = [];
    let position: string | undefined;
    for (let pages = 0; pages < 3; pages += 1) {
      const page = await store.readLog(id, owner.id, position, 1);
      messages.push((parseLog(page) ?? []).map(({ message }) => message));
      expect(page?.nextCursor).toBe(pages === 2 ? null : page?.position);
      position = page?.position;
    }
    expect(messages).toEqual([["one"], ["two"], ["three"]]);
    expect(await store.readLog(id, owner.id, position)).toMatchObject({ nextCursor: null, position });
    expect(parseLog(await store.readLog(id, owner.id, position))).toEqual([]);
  });

  test("listeners of the process that writes lines hear of it", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const heard: StoreEvent[] = [];
    const stop = store.subscribe((event) => heard.push(event));
    await store.appendLog(claim, [createLine("one")]);
    await waitUntil(() => heard.some(({ type }) => type === "log"));
    expect(heard).toContainEqual({ type: "log", id: execution.id });
    stop();
    await store.finish(claim, SUCCEEDED);
  });
}
