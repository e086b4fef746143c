import { expect, test } from "vitest";
import { createUuidV7, getLowestUuid, isUuid, readUuidTime } from "./uuid.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;

test("ids are UUIDs of version 7 that carry their time and sort in the order in which they were made", () => {
  const before = Date.now() - 1000;
  const ids = Array.from({ length: 20_000 }, () => createUuidV7());
  expect(ids.every((id) => isUuid(id) && UUID_V7.test(id))).toBe(true);
  expect(ids.every((id) => id > getLowestUuid(before) && id < getLowestUuid(before + 60_000))).toBe(true);
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids.map((id) => id.slice(19))).size).toBe(ids.length);
});

test("the time of an id can be read, and only of a UUID of version 7", () => {
  const id = createUuidV7();
  expect(Math.abs((readUuidTime(id) ?? 0) - Date.now())).toBeLessThan(10_000);
  expect(readUuidTime("01890a5d-ac96-774b-bcce-b302099a8057")).toBe(0x01890a5dac96);
  for (const other of [
    "01890a5d-ac96-474b-bcce-b302099a8057",
    "01890a5d-ac96-774b-3cce-b302099a8057",
    `${id}0`,
    "",
  ])
    expect(readUuidTime(other)).toBeNull();
});

test.each([
  ["00000000-0000-0000-0000-000000000000", true],
  ["01890A5D-AC96-774B-BCCE-B302099A8057", true],
  ["{01890a5d-ac96-774b-bcce-b302099a8057}", false],
  ["01890a5dac96774bbcceb302099a8057", false],
  ["01890a5d-ac96-774b-bcce-b302099a8057\n", false],
])("%j is a uuid: %s", (text, expected) => {
  expect(isUuid(text)).toBe(expected);
});
