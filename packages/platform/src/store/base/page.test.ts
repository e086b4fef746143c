import { describe, expect, test } from "vitest";
import { decodeCursor, encodeCursor } from "./page.ts";

const anything = () => true;
const startsWithKey = (key: string) => key.startsWith("key");

describe("a cursor", () => {
  test("gives back the keys that it was made of", () => {
    expect(decodeCursor(encodeCursor(["2026-11-20", "key"]), [anything, anything])).toEqual([
      "2026-11-20",
      "key",
    ]);
  });

  test.each([
    ["text that is none", "nonsense"],
    ["too few keys", encodeCursor(["one"])],
    ["a key that the list would not give out", encodeCursor(["one", "two"])],
    ["a NUL, which PostgreSQL's text cannot hold", encodeCursor(["one", "key\0"])],
    ["numbers", Buffer.from("[1,2]").toString("base64url")],
  ])("is refused when it is %s", (_, cursor) => {
    expect(() => decodeCursor(cursor, [anything, startsWithKey])).toThrow(/cursor/);
  });
});
