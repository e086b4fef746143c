import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { explainFileName, foldName } from "./file-name.ts";

describe("a file name", () => {
  test.each([
    "berlin52.json",
    ".gitignore",
    "ä ö ü.csv",
    "データ.json",
    "a..b",
    "x".repeat(200),
    "ü".repeat(127),
    "🙂.txt",
    "CON",
    "-rf",
    "%2e%2e",
  ])("is %j", (name) => {
    expect(explainFileName(name)).toBeNull();
  });

  test.each([
    ["", /at least one/u],
    [".", /period/u],
    ["..", /period/u],
    ["a.", /period/u],
    ["a/b", /folders/u],
    ["../a", /folders/u],
    ["a\\b", /folders/u],
    ["a\0b", /control/u],
    ["a\nb", /control/u],
    ["\u202egnp.exe", /not seen/u],
    ["a\u200bb", /not seen/u],
    ["a\ufeff", /not seen/u],
    ["a\u2028b", /control/u],
    ["\ud800", /control|seen/u],
    ["\ue000", /not seen/u],
    [" a", /space/u],
    ["a ", /space/u],
    ["a\u00a0", /space/u],
    ["a\u0308", /normal form/u],
    ["x".repeat(201), /200 characters/u],
    ["ü".repeat(128), /255 bytes/u],
    ["x".repeat(1_000_000), /200 characters/u],
  ])("is not %j", (name, reason) => {
    expect(explainFileName(name)).toMatch(reason);
  });

  test("that is taken can be written to any file system, as itself", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (name) => {
        fc.pre(explainFileName(name) === null);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect(Buffer.from(name).toString()).toBe(name);
        expect(name.trim()).toBe(name);
        expect(decodeURIComponent(encodeURIComponent(name))).toBe(name);
      }),
    );
  });

  test.each([
    ["Data.JSON", "data.json"],
    ["STRASSE", "straße"],
    ["Σ", "ς"],
    ["ſ", "s"],
  ])("%j is the same in a pool as %j", (one, other) => {
    expect(foldName(one)).toBe(foldName(other));
  });
});
