import { expect, test } from "vitest";
import { readAllPages } from "./session.ts";

test("all pages of a list are read, in their order", async () => {
  const pages = [
    { items: [1, 2], nextCursor: "a" },
    { items: [], nextCursor: "b" },
    { items: [3], nextCursor: null },
  ];
  expect(await readAllPages(async () => pages.shift() ?? { items: [], nextCursor: null })).toEqual([1, 2, 3]);
});

test.each([
  ["the same page again and again", () => "a", 2],
  ["one more page without end", (page: number) => String(page), 10_000],
] as const)("a server that gives %s is not asked without end", async (_what, toCursor, most) => {
  let asked = 0;
  const endless = readAllPages(async () => {
    asked += 1;
    if (asked > 2 * most) throw new Error("It is asked without end.");
    return { items: [], nextCursor: toCursor(asked) };
  });
  await expect(endless).rejects.toMatchObject({ code: "INVALID_ANSWER" });
  expect(asked).toBe(most);
});
