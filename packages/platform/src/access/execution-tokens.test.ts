import { expect, test } from "vitest";
import { createExecutionTokens } from "./execution-tokens.ts";
import { isPersonalAccessToken } from "./token-kinds.ts";

const ATTEMPT = { executionId: "0192f3c4-5678-7abc-8def-0123456789ab", attempt: 3 };
const tokens = createExecutionTokens({ current: "a".repeat(32), others: [] });

test("a token stands for the attempt that it was made for", () => {
  const token = tokens.sign(ATTEMPT);
  expect(tokens.read(token)).toEqual(ATTEMPT);
  expect(isPersonalAccessToken(token)).toBe(false);
});

test("a token of which one letter was changed is none", () => {
  const token = tokens.sign(ATTEMPT);
  for (let at = 0; at < token.length; at += 1) {
    const other = token[at] === "A" ? "B" : "A";
    expect(tokens.read(token.slice(0, at) + other + token.slice(at + 1))).toBeNull();
  }
});

test.each(["", "plat_run_", "plat_run_AAAA", `plat_run_${"A".repeat(70)}`, `plat_run_${"A".repeat(71)}`])(
  "%j is no token",
  (token) => expect(tokens.read(token)).toBeNull(),
);

test("a token of another platform is none, unless its secret is still among the others", () => {
  const token = createExecutionTokens({ current: "b".repeat(32), others: [] }).sign(ATTEMPT);
  expect(tokens.read(token)).toBeNull();
  const changed = createExecutionTokens({ current: "a".repeat(32), others: ["b".repeat(32)] });
  expect(changed.read(token)).toEqual(ATTEMPT);
});
