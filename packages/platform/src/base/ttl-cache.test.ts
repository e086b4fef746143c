import { EventEmitter, once } from "node:events";
import { describe, expect, test } from "vitest";
import { createTtlCache } from "./ttl-cache.ts";

describe("a cache of answers", () => {
  test("does not keep an answer that was asked for before it was cleared", async () => {
    const cache = createTtlCache<string>({ ttlOf: () => 1_000, maxEntries: 10 });
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
    const cache = createTtlCache<string>({ ttlOf: () => 1_000, maxEntries: 10 });
    await expect(cache.get("key", async () => Promise.reject(new Error("down")))).rejects.toThrow("down");
    expect(await cache.get("key", async () => "up")).toBe("up");
  });

  test("keeps an answer for its time and so many of them", async () => {
    let now = 0;
    const cache = createTtlCache<number>({ ttlOf: (value) => value, maxEntries: 2, now: () => now });
    await cache.get("short", async () => 10);
    await cache.get("long", async () => 20);
    now = 10;
    expect([cache.peek("short"), cache.peek("long")]).toEqual([undefined, 20]);
    await cache.get("a", async () => 20);
    await cache.get("b", async () => 20);
    expect([cache.peek("long"), cache.peek("a"), cache.peek("b")]).toEqual([undefined, 20, 20]);
  });
});
