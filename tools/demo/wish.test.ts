import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { REPOSITORY } from "../platform-process.ts";
import { readWish } from "./wish.ts";

test("nothing needs to be said to the demo; a directory and circuits may be asked for", () => {
  const usual = { dataDirectory: join(REPOSITORY, "data", "demo"), hasQuantum: false, isHelp: false };
  expect(readWish([])).toEqual(usual);
  expect(readWish(["there", "--quantum"])).toEqual({
    ...usual,
    dataDirectory: resolve("there"),
    hasQuantum: true,
  });
  expect(readWish(["one", "two", "-h"]).isHelp).toBe(true);
  expect(readWish(["-h"])).toEqual({ ...usual, isHelp: true });
});

test.each([
  [["--quantun"], "--quantun"],
  [["one", "two"], "One directory, not 2."],
])("what is not understood is said: %j", (args, said) => {
  expect(() => readWish(args)).toThrow(said);
});
