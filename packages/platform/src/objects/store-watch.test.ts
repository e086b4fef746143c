import { Readable } from "node:stream";
import { pino } from "pino";
import { expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { StoreUnavailable } from "./object-store.ts";
import type { ObjectStore } from "./object-store.ts";
import { refuseWhileDown, watchStore } from "./store-watch.ts";

const logger = pino({ level: "silent" });
const TIMES = { soundMs: 1, failingMs: 1, downAfterMs: 0 };

test("one failure between looks that succeed is not named", async () => {
  let looks = 0;
  const named: unknown[] = [];
  const watch = watchStore({
    logger,
    times: TIMES,
    check: async () => {
      named.push(watch.explain());
      looks += 1;
      if (looks % 2 === 0) throw new StoreUnavailable("away");
    },
  });
  await waitUntil(() => looks > 10);
  expect(new Set(named)).toEqual(new Set([null]));
  await watch.close();
});

test("a store that fails takes requests until they would no longer be tried again", async () => {
  let looks = 0;
  const check = async () => {
    looks += 1;
    throw new StoreUnavailable("away");
  };
  const watch = watchStore({ logger, times: { ...TIMES, downAfterMs: 2 ** 40 }, check });
  await waitUntil(() => looks > 3);
  expect(watch.explain()).toMatchObject({ code: "OBJECTS_UNAVAILABLE" });
  expect(watch.isDown()).toBe(false);
  await watch.close();
});

test("a look that lasts is not waited for when the process stops", async () => {
  let asked: AbortSignal | undefined;
  const check = (signal: AbortSignal) => {
    asked = signal;
    return new Promise<void>((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(new Error("aborted"))),
    );
  };
  const watch = watchStore({ logger, times: TIMES, check });
  await waitUntil(() => asked !== undefined);
  await watch.close();
  expect(watch.explain()).toBeNull();
});

const answered = async () => "answered" as never;

test("while the store is down results are received, which waits for nothing, and what asks the store is refused", async () => {
  const store = { receive: answered, read: answered, fetchTo: answered, has: answered };
  const guarded = refuseWhileDown(store as unknown as ObjectStore, { isDown: () => true });
  expect(await guarded.receive(Readable.from([]), 1)).toBe("answered");
  for (const asked of [guarded.read("hash"), guarded.fetchTo("hash", "path"), guarded.has("hash")])
    await expect(asked).rejects.toThrow(StoreUnavailable);
});
