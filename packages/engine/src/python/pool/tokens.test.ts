import { expect, test } from "vitest";
import { createTokens } from "./tokens.ts";

test("no token comes twice, and each has 128 bits", () => {
  const drawToken = createTokens();
  const tokens = Array.from({ length: 1000 }, drawToken);
  expect(new Set(tokens).size).toBe(1000);
  expect(tokens.filter((token) => !/^[0-9a-f]{32}$/.test(token))).toEqual([]);
});
