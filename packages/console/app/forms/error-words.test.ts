import { expect, test } from "vitest";
import { PLATFORM_API } from "@platform/contract/platform-api/platform-api";
import { putInWords } from "./error-words.ts";

const PRICE = "^(0|[1-9][0-9]{0,8})([.][0-9]{1,6})?$";

function listPatterns(part: unknown): readonly string[] {
  if (typeof part !== "object" || part === null) return [];
  const own = (part as { readonly pattern?: unknown }).pattern;
  return [...(typeof own === "string" ? [own] : []), ...Object.values(part).flatMap(listPatterns)];
}

test("each pattern of a body is told in words", () => {
  const bodies = Object.values(PLATFORM_API).map((operation) =>
    "body" in operation ? operation.body : null,
  );
  const patterns = new Set(bodies.flatMap(listPatterns));
  expect(patterns.size).toBeGreaterThan(10);
  const unsaid = [...patterns].filter((pattern) =>
    putInWords(`must match pattern "${pattern}"`).includes(pattern),
  );
  expect(unsaid).toEqual([]);
});

test.each([
  ["must not have fewer than 1 characters", "is required"],
  ["must not have fewer than 12 characters", "must have at least 12 characters"],
  ["must not have more than 120 characters", "must have at most 120 characters"],
  ["must be >= 1", "must be at least 1"],
  ["must be <= 3650", "must be at most 3650"],
  ["must be integer", "must be a whole number"],
  ["must be object", "must be a JSON object"],
  ["is taken", "is taken"],
  [
    `must match pattern "${PRICE}"`,
    "must be an amount, such as 12 or 0.0025, with at most 9 digits before the point and 6 after it",
  ],
])("%s: %s", (message, words) => {
  expect(putInWords(message)).toBe(words);
});
