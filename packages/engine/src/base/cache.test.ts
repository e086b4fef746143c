import { EventEmitter, once } from "node:events";
import { describe, expect, test } from "vitest";
import { createCache } from "./cache.ts";

describe("a cache of answers", () => {
  test("does not keep an answer that was asked for before it was cleared", async () => {
    const cache = createCache<string>({ ttlMs: 1_000, maxEntries: 10 });
    const gate = new EventEmitter();
    const old = cache.get("key", async () => {
      await once(gate, "open");
      return "old";
    });
    cache.clear();
    const fresh = cache.get("key", async () => "new");
    gate.emit("open");
    expect(await old).toBe("old");
    expect(await fresh).toBe("new");
    expect(cache.peek("key")).toBe("new");
  });

  test("keeps no failure", async () => {
    const cache = createCache<string>({ ttlMs: 1_000, maxEntries: 10 });
    await expect(cache.get("key", async () => Promise.reject(new Error("down")))).rejects.toThrow("down");
    expect(await cache.get("key", async () => "up")).toBe("up");
  });

  test("keeps an answer for its time and so many of them", async () => {
    let now = 0;
    const cache = createCache<number>({ ttlMs: (value) => value, maxEntries: 2, now: () => now });
    await cache.get("short", async () => 10);
    await cache.get("long", async () => 20);
    now = 10;
    expect([cache.peek("short"), cache.peek("long")]).toEqual([undefined, 20]);
    await cache.get("a", async () => 20);
    await cache.get("b", async () => 20);
    expect([cache.peek("long"), cache.peek("a"), cache.peek("b")]).toEqual([undefined, 20, 20]);
  });

  test("that may stay until they have to make room go a tenth at a time, those that were set first before others", () => {
    const cache = createCache<number>({ maxEntries: 20 });
    for (let index = 0; index < 20; index++) cache.set(String(index), index);
    cache.set("0", 0);
    expect([cache.peek("0"), cache.peek("1")]).toEqual([0, 1]);
    cache.set("20", 20);
    const left = Array.from({ length: 21 }, (_, index) => cache.peek(String(index)) !== undefined);
    expect(left.flatMap((isLeft, index) => (isLeft ? [] : [index]))).toEqual([1, 2]);
  });
});
