import { expect, test } from "vitest";
import { createMemoryStore } from "../store/memory-store.ts";
import { SUCCEEDED, createExecution, createOwner, request } from "../testing/execution-fixtures.ts";
import { createMemoryFeed } from "./memory-feed.ts";

const OWNER = createOwner();

function open(capacity?: number) {
  const feed = createMemoryFeed(capacity);
  const store = createMemoryStore(feed.add);
  const leaving = new AbortController();
  const read = async (after: number, seconds = 0, limit = 100) =>
    await feed.read({ after, limit, seconds, signal: leaving.signal });
  return {
    feed,
    store,
    leaving,
    read,
    create: async () => (await store.create(createExecution({ owner: OWNER }))).id,
    list: async (after = 0) => (await read(after)).map(({ record }) => [record.id, record.status]),
  };
}

test("every state of every execution is in the feed, in its order, from its creation on", async () => {
  const { store, create, list } = open();
  const [first, second] = [await create(), await create()];
  const { claims } = await store.claim(request());
  for (const claim of claims) await store.finish(claim, SUCCEEDED);
  expect(await list()).toEqual([
    [first, "PENDING"],
    [second, "PENDING"],
    [first, "RUNNING"],
    [second, "RUNNING"],
    [first, "SUCCEEDED"],
    [second, "SUCCEEDED"],
  ]);
  const third = await create();
  await store.cancel(third, OWNER.id);
  expect(await list(6)).toEqual([
    [third, "PENDING"],
    [third, "FAILED"],
  ]);
});

test("who waits is woken by the next change, by leaving and by the end of the feed, and gets nothing twice", async () => {
  const { feed, create, read, leaving } = open();
  const waiting = read(0, 600);
  const id = await create();
  expect((await waiting).map(({ record }) => record.id)).toEqual([id]);
  const gone = read(1, 600);
  leaving.abort();
  expect(await gone).toEqual([]);
  const other = feed.read({ after: 1, limit: 1, seconds: 600, signal: new AbortController().signal });
  feed.close();
  expect(await other).toEqual([]);
});

test("a cursor goes on behind its event; of another process, of what is forgotten or of what never was it is refused", async () => {
  const { feed, create, list } = open(3);
  const ids = [];
  for (let count = 0; count < 5; count += 1) ids.push(await create());
  expect(feed.findStart(undefined)).toBe(5);
  expect(feed.findStart("0")).toBe(2);
  expect(await list(feed.findStart("0"))).toEqual(ids.slice(2).map((id) => [id, "PENDING"]));
  expect(await list(feed.findStart(feed.encode(4)))).toEqual([[ids[4], "PENDING"]]);
  for (const cursor of [feed.encode(1), feed.encode(6), open().feed.encode(4)])
    expect(() => feed.findStart(cursor)).toThrow(expect.objectContaining({ code: "CURSOR_EXPIRED" }));
  for (const cursor of ["", "1", "x", `${feed.encode(1)}0000000000000000`, "00000000-1 "])
    expect(() => feed.findStart(cursor)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
});

test("who falls behind what is kept is told, and misses nothing unnoticed; a page has no more than it asks for", async () => {
  const { create, read } = open(3);
  for (let count = 0; count < 3; count += 1) await create();
  expect(await read(0, 0, 2)).toHaveLength(2);
  await create();
  await expect(read(0)).rejects.toMatchObject({ code: "CURSOR_EXPIRED" });
  expect(await read(1)).toHaveLength(3);
});
