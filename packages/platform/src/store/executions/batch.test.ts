import { EventEmitter, once } from "node:events";
import { Problem } from "@platform/contract/problems";
import { expect, test } from "vitest";
import { createBatcher } from "./batch.ts";

test("who has waited too long behind a group that failed fails with it; who has just come is tried", async () => {
  const groups: (readonly string[])[] = [];
  let now = 0;
  const gate = new EventEmitter();
  const batcher = createBatcher<string, string>({
    maxItems: 1,
    maxBytes: 100,
    maxInFlight: 1,
    measureBytes: () => 1,
    now: () => now,
    flush: async (items) => {
      groups.push(items);
      if (groups.length > 1) return items;
      await once(gate, "open");
      throw new Problem("UNAVAILABLE");
    },
  });
  const ends = ["first", "early"].map((item) => batcher.add(item));
  now = 5_000;
  ends.push(batcher.add("late"));
  await expect.poll(() => groups).toHaveLength(1);
  now = 10_001;
  gate.emit("open");
  expect(await Promise.allSettled(ends)).toMatchObject([
    { reason: { code: "UNAVAILABLE" } },
    { reason: { code: "UNAVAILABLE" } },
    { value: "late" },
  ]);
  expect(groups).toEqual([["first"], ["late"]]);
});
