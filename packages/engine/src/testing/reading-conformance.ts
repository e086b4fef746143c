import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { LOG_PAGE_BYTES } from "@platform/contract/limits";
import type { ExecutionStore, NewExecution, StoreEvent } from "../store/execution-store.ts";
import {
  SHORT_LEASE,
  LONG_LEASE,
  SUCCEEDED,
  createExecution,
  createLine,
  createOwner,
  emptyQueue,
  loseWorker,
  parseLog,
  request,
  start,
} from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";
import { waitUntil } from "./wait-until.ts";

function createLong(index: number): string {
  return `${index} ${"x".repeat(1000)}`;
}

/** From a cursor on, as `logs` does: until the log is complete or there is nothing more for now. */
async function readToEnd(store: ExecutionStore, { id, owner }: NewExecution, cursor?: string) {
  const messages: string[] = [];
  let largest = 0;
  let next = cursor;
  for (;;) {
    const page = await store.readLog(id, owner.id, next);
    const entries = parseLog(page) ?? [];
    messages.push(...entries.map(({ message }) => message));
    largest = Math.max(largest, page?.lines.byteLength ?? 0);
    if (page === null || page.nextCursor === null || entries.length === 0)
      return { messages, largest, nextCursor: page?.nextCursor ?? null };
    next = page.nextCursor;
  }
}

const nothing = async (): Promise<void> => undefined;

export function describeResult(use: Use): void {
  test("what is kept beside a result comes back by name and size, to its owner only, and ends once", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const result = { hash: "a".repeat(64), bytes: 5_000_000_000 };
    const rest = { path: "/nowhere", keep: nothing, drop: nothing };
    const file = { hash: "b".repeat(64), bytes: 0 };
    const output = {
      result: { ...result, ...rest },
      files: [{ name: "tour.png", content: { ...file, ...rest } }],
    };
    const metadata = Buffer.from('{"a":1}');
    const outcome = { status: "SUCCEEDED", result: Buffer.alloc(0), metadata, output } as const;
    expect(await store.finish({ ...claim, attempt: claim.attempt + 1 }, outcome)).toBe(false);
    expect(await store.finish(claim, outcome)).toBe(true);
    expect(await store.finish(claim, outcome)).toBe(true);
    const stored = await store.readResult(execution.id, execution.owner.id);
    expect(stored).toMatchObject({
      result: { length: 0 },
      output: { result, files: [{ name: "tour.png", ...file }] },
    });
    expect(Buffer.from(stored?.metadata ?? [])).toEqual(metadata);
    expect(await store.readResult(execution.id, randomUUID())).toBeNull();
    const { execution: plain, claim: plainClaim } = await start(store);
    await store.finish(plainClaim, SUCCEEDED);
    expect(await store.readResult(plain.id, plain.owner.id)).not.toHaveProperty("output");
  });
}

export function describeDigests(use: Use): void {
  test("input and result have the digests of their bytes, for their owner only", async () => {
    const store = use();
    const persistTo = { dataPoolId: randomUUID(), name: null, userId: null };
    const { execution, claim } = await start(store, {
      body: Buffer.from('{"data":{}}'),
      persistTo,
    });
    // printf '{"data":{}}' | sha256sum
    const hash = "7fb9d166d1a15bce0b9f085f3818946fd9297e4513a4a034a0ceb749292b4c0d";
    const input = { hash, bytes: 11, references: {} };
    const { id, owner } = execution;
    expect(await store.readDigests(id, owner.id)).toEqual({ input, result: null, files: [], metadata: null });
    await store.finish(claim, SUCCEEDED);
    // printf '{"sum":3}' | sha256sum
    const result = { hash: "cf671ee8b10d052ca89d09309f6d1f758acc09afc189d3db1f573dac86112cbb", bytes: 9 };
    expect(await store.readDigests(id, owner.id)).toEqual({ input, result, files: [], metadata: null });
    expect(await store.readDigests(id, randomUUID())).toBeNull();
    expect(await store.readDigests(randomUUID(), owner.id)).toBeNull();
  });

  test("of a result that is kept beside its row, the digests are those it is kept by", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const rest = { path: "/nowhere", keep: nothing, drop: nothing };
    const result = { hash: "a".repeat(64), bytes: 5_000_000_000 };
    const file = { hash: "b".repeat(64), bytes: 0 };
    const output = {
      result: { ...result, ...rest },
      files: [{ name: "tour.png", content: { ...file, ...rest } }],
    };
    const metadata = Buffer.from('{"a":1}');
    await store.finish(claim, { status: "SUCCEEDED", result: Buffer.alloc(0), metadata, output });
    const digests = await store.readDigests(execution.id, execution.owner.id);
    expect(digests).toMatchObject({ result, files: [{ name: "tour.png", ...file }] });
    expect(Buffer.from(digests?.metadata ?? []).toString()).toBe('{"a":1}');
  });
}

export function describeLog(use: Use): void {
  test("log lines come back in order as JSON, to their owner only", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([]);
    const awkward = 'quote " backslash \\ newline \n nul \0 emoji \u{1F600}';
    await store.appendLog(claim, []);
    await store.appendLog(claim, [createLine("one"), createLine(awkward, "ERROR")]);
    await Promise.all(
      ["three", "four", "five"].map((message) => store.appendLog(claim, [createLine(message)])),
    );
    await store.finish(claim, SUCCEEDED);
    const timestamp = "2026-11-20 21:17:05";
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([
      { timestamp, severity: "INFO", message: "one" },
      { timestamp, severity: "ERROR", message: awkward },
      ...["three", "four", "five"].map((message) => ({ timestamp, severity: "INFO", message })),
    ]);
    expect(await store.readLog(execution.id, randomUUID())).toBeNull();
  });

  test("a long log is read in bounded pages, each line once, while it grows and after its end", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const append = (from: number, to: number) =>
      store.appendLog(
        claim,
        Array.from({ length: to - from }, (_, index) => createLine(createLong(from + index))),
      );
    await append(0, 2500);
    await append(2500, 2501);
    const first = await readToEnd(store, execution);
    expect(first.messages).toEqual(Array.from({ length: 2501 }, (_, index) => createLong(index)));
    expect(first.largest).toBeLessThan(LOG_PAGE_BYTES * 1.1);
    await append(2501, 2503);
    const second = await readToEnd(store, execution, first.nextCursor ?? "");
    expect(second.messages).toEqual([createLong(2501), createLong(2502)]);
    expect(second.nextCursor).not.toBeNull();
    await append(2503, 2504);
    await store.finish(claim, SUCCEEDED);
    expect(await readToEnd(store, execution, second.nextCursor ?? "")).toMatchObject({
      messages: [createLong(2503)],
      nextCursor: null,
    });
    expect((await readToEnd(store, execution)).nextCursor).toBeNull();
  });

  test("a log that is empty can be followed from its beginning, and a made-up cursor is refused", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    const { nextCursor } = await readToEnd(store, execution);
    await store.appendLog(claim, [createLine("first")]);
    await store.finish(claim, SUCCEEDED);
    expect(await readToEnd(store, execution, nextCursor ?? "")).toMatchObject({
      messages: ["first"],
      nextCursor: null,
    });
    for (const cursor of ["", "-1", "x", "1e9", "WyIxIiwiMiJd", "9".repeat(40)])
      await expect(store.readLog(execution.id, execution.owner.id, cursor)).rejects.toMatchObject({
        code: "INVALID_INPUT",
      });
  });

  test("only who holds the claim writes to the log", async () => {
    const store = use();
    const { execution, claim } = await start(store);
    await store.appendLog({ ...claim, workerId: "another" }, [createLine("foreign")]);
    await store.appendLog({ ...claim, attempt: 2 }, [createLine("foreign")]);
    expect(parseLog(await store.readLog(execution.id, execution.owner.id))).toEqual([]);
    await store.finish(claim, SUCCEEDED);
  });
}

export function describeList(use: Use): void {
  test("a list shows the owner's executions newest first, page by page, each once", async () => {
    const store = use();
    const owner = createOwner();
    const executions: NewExecution[] = [];
    for (let index = 0; index < 5; index++) {
      const execution = createExecution({ owner });
      await store.create(execution);
      executions.unshift(execution);
    }
    const shown: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await store.list(owner.id, { limit: 2, ...(cursor === null ? {} : { cursor }) });
      expect(page.items.length).toBeLessThanOrEqual(2);
      shown.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(shown).toEqual(executions.map(({ id }) => id));
    expect((await store.list(owner.id, { limit: 5 })).nextCursor).toBeNull();
    expect(await store.list(randomUUID(), { limit: 5 })).toEqual({ items: [], nextCursor: null });
    await emptyQueue(store);
  });

  test("a list can be cut by state and time", async () => {
    const store = use();
    const owner = createOwner();
    const { execution, claim } = await start(store, { owner });
    const waiting = createExecution({ owner });
    const { createdAt } = await store.create(waiting);
    const ids = async (filter: Omit<Parameters<ExecutionStore["list"]>[1], "limit">) =>
      (await store.list(owner.id, { limit: 10, ...filter })).items.map(({ id }) => id);
    expect(await ids({ status: "RUNNING" })).toEqual([execution.id]);
    expect(await ids({ status: "PENDING" })).toEqual([waiting.id]);
    expect(await ids({ status: "UNKNOWN" })).toEqual([]);
    expect(await ids({ createdAfter: createdAt })).toContain(waiting.id);
    expect(await ids({ createdBefore: createdAt })).not.toContain(waiting.id);
    expect(await ids({ createdBefore: createdAt + 1 })).toEqual([waiting.id, execution.id]);
    expect(await ids({ createdAfter: createdAt + 1 })).toEqual([]);
    await store.finish(claim, SUCCEEDED);
    await store.cancel(waiting.id, owner.id);
  });
}

/** How long it is kept: what its service said at the start stays with an execution. */
export function describeKept(use: Use): void {
  test("an execution comes back with the days that it was started with, alone, among others, and after its end", async () => {
    const store = use();
    const owner = createOwner();
    const kept = { result: 45, log: null };
    const alone = await start(store, { owner, kept });
    await store.finish(alone.claim, SUCCEEDED);
    const among = [{ kept: { result: null, log: 3 } }, {}, { kept }].map((more) =>
      createExecution({ owner, ...more }),
    );
    const created = await Promise.all(among.map((execution) => store.create(execution)));
    expect(created.map((record) => record.kept)).toEqual([{ result: null, log: 3 }, undefined, kept]);
    const { items } = await store.list(owner.id, { limit: 10 });
    const found = new Map(items.map((record) => [record.id, record.kept]));
    expect([alone.execution, ...among].map(({ id }) => found.get(id))).toEqual([
      kept,
      { result: null, log: 3 },
      undefined,
      kept,
    ]);
    expect((await store.find(alone.execution.id, owner.id))?.kept).toEqual(kept);
    await emptyQueue(store);
  });
}

export function describeEvents(use: Use): void {
  test("listeners hear what happens, with the record where it happened", async () => {
    const store = use();
    await emptyQueue(store);
    const events: StoreEvent[] = [];
    const stop = store.subscribe((event) => events.push(event));
    const changedTo = (id: string) =>
      events
        .filter((event) => event.type === "changed" && event.id === id)
        .map((event) => (event.type === "changed" ? event.record?.status : null));
    const first = createExecution();
    await store.create(first);
    await waitUntil(() => events.some(({ type }) => type === "pending"));
    const [claim] = (await store.claim(request({ leaseSeconds: LONG_LEASE }))).claims;
    if (claim === undefined) throw new Error("There was nothing to claim.");
    await store.cancel(first.id, first.owner.id);
    await waitUntil(() => events.some((event) => event.type === "cancel" && event.id === first.id));
    await store.finish(claim, SUCCEEDED);
    await waitUntil(() => changedTo(first.id).includes("SUCCEEDED"));
    const second = createExecution();
    await store.create(second);
    await store.cancel(second.id, second.owner.id);
    await waitUntil(() => changedTo(second.id).includes("FAILED"));
    const third = await start(store, {}, SHORT_LEASE);
    await loseWorker(store, third.execution);
    await waitUntil(() => changedTo(third.execution.id).includes("UNKNOWN"));
    stop();
    const heard = events.length;
    await store.create(createExecution());
    await emptyQueue(store);
    expect(events).toHaveLength(heard);
  });
}
