import { expect, test } from "vitest";
import { createUuidV7, getLowestUuid, isUuid } from "./uuid.ts";

test("ids are UUIDs of version 7 that carry their time and sort in the order in which they were made", () => {
  const before = Date.now() - 1000;
  const ids = Array.from({ length: 1000 }, () => createUuidV7());
  expect(ids.every((id) => isUuid(id) && id[14] === "7" && /[89ab]/u.test(id[19] ?? ""))).toBe(true);
  expect(ids.every((id) => id > getLowestUuid(before) && id < getLowestUuid(before + 60_000))).toBe(true);
  const times = ids.map((id) => id.slice(0, 18));
  expect(times).toEqual([...times].sort());
  expect(new Set(ids).size).toBe(ids.length);
});
