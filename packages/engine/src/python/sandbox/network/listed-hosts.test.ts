import { expect, test } from "vitest";
import { formatRange } from "./address-range.ts";
import { KEEP_MS, learnHosts, listKnown, listLines, MAX_ADDRESSES } from "./listed-hosts.ts";
import type { KnownNames } from "./listed-hosts.ts";

const NAME = "api.example.org";
type Look = readonly [at: number, ...addresses: string[]];

/** What is known after looks at one name; a look without addresses failed. */
function look(...looks: readonly Look[]) {
  let known: KnownNames = new Map();
  const news: string[] = [];
  for (const [at, ...addresses] of looks) {
    const lookup = { name: NAME, addresses, code: addresses.length === 0 ? "ETIMEOUT" : null };
    const learned = learnHosts(known, [lookup], ({ code }) => code, at);
    known = learned.known;
    news.push(...learned.news);
  }
  return { reached: listKnown(known).map(formatRange), lines: listLines(known), news };
}

test("a name that moved is reached at its new address, and for an hour at the old one; it resolves to the new one", () => {
  const [old, now] = ["203.0.113.5", "203.0.113.6"];
  expect(look([0, old], [1, now])).toMatchObject({
    reached: [`${now}/32`, `${old}/32`],
    lines: [`${now} ${NAME}`],
  });
  expect(look([0, old], [KEEP_MS, now]).reached).toEqual([`${now}/32`]);
});

test("a name that cannot be resolved for a while keeps its addresses, however long that takes", () => {
  expect(look([0, "203.0.113.5"], [1], [2 * KEEP_MS])).toEqual({
    reached: ["203.0.113.5/32"],
    lines: [`203.0.113.5 ${NAME}`],
    news: ["ETIMEOUT"],
  });
});

test("what is wrong with a name is said once, and again after it was right", () => {
  expect(look([0], [1], [2, "203.0.113.5"], [3]).news).toEqual(["ETIMEOUT", "ETIMEOUT"]);
});

test("who answers for a name cannot make the list grow without end", () => {
  const looks = Array.from({ length: 100 }, (_, at): Look => [at, `203.0.113.${at}`]);
  const { reached } = look(...looks);
  expect(reached).toHaveLength(MAX_ADDRESSES);
  expect(reached[0]).toBe("203.0.113.99/32");
});

test("a name that never had an address is reached nowhere, and has no line", () => {
  expect(look([0])).toMatchObject({ reached: [], lines: [] });
});
