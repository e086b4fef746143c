import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planMemory } from "./memory-policy.ts";
import type { WarmZygote } from "./memory-policy.ts";

const MB = 1024 ** 2;

/** Used in the order of their names. */
function zygote(id: string, megabytes: number | null, idle = 0, use: WarmZygote["use"] = "idle"): WarmZygote {
  const totalBytes = megabytes === null ? null : megabytes * MB;
  return { id, totalBytes, idleBytes: idle * MB, lastUsed: id.charCodeAt(0), use };
}

/** In words, for a budget of 100 MB and at most four zygotes. */
function plan(...zygotes: readonly WarmZygote[]): string {
  const { cuts, memory } = planMemory(zygotes, { zygoteMemoryBytes: 100 * MB, maxZygotes: 4 });
  const words = cuts.map(({ id, what }) => (what === "children" ? `children of ${id}` : id));
  return [...words, ...(memory === "tight" ? ["tight"] : [])].join(", ");
}

describe("of the zygotes of a worker", () => {
  test.each<readonly [string, string, string]>([
    ["nothing goes while there is room", plan(zygote("a", 40, 10), zygote("b", 40)), ""],
    ["no children are made ahead when room is short", plan(zygote("a", 45), zygote("b", 50)), "tight"],
    [
      "idle children go first, the least recently used before the others",
      plan(zygote("c", 40, 10), zygote("b", 35, 10), zygote("a", 30, 4)),
      "children of a, children of b, tight",
    ],
    [
      "zygotes go when that is not enough, the least recently used first, as many as must",
      plan(zygote("c", 60), zygote("a", 30, 5), zygote("b", 30)),
      "a, tight",
    ],
    [
      "what is busy stays, however long ago it was used",
      plan(zygote("a", 60, 10, "busy"), zygote("b", 30), zygote("c", 40)),
      "b, tight",
    ],
    ["one that exceeds the budget alone stays while it is used", plan(zygote("a", 300)), "tight"],
    [
      "others go for one that exceeds the budget alone",
      plan(zygote("a", 10), zygote("b", 10), zygote("c", 300)),
      "a, b, tight",
    ],
    [
      "the least recently used goes when they are too many",
      plan(...["e", "c", "a", "d", "b"].map((id) => zygote(id, 1, 1))),
      "a",
    ],
    [
      "those that nobody has measured yet count as small ones",
      plan(zygote("a", null), zygote("b", null), zygote("c", null)),
      "",
    ],
  ])("%s", (_, cuts, expected) => expect(cuts).toBe(expected));

  test("fifty of 60 MB stay warm in 4 GB, and in 1 GB the seventeen used last", () => {
    const fifty = Array.from({ length: 50 }, (_, at) => ({ ...zygote("a", 60), id: `v${at}`, lastUsed: at }));
    const limits = { zygoteMemoryBytes: 4096 * MB, maxZygotes: 256 };
    expect(planMemory(fifty, limits).cuts).toEqual([]);
    const { cuts } = planMemory(fifty, { ...limits, zygoteMemoryBytes: 1024 * MB });
    expect(cuts.map(({ id }) => id)).toEqual(Array.from({ length: 33 }, (_, at) => `v${at}`));
  });

  test("what stays fits, or is busy, or is the one that was used last", () => {
    const one = fc.record({
      id: fc.uuid(),
      totalBytes: fc.option(fc.integer({ min: 50, max: 200 })),
      idleBytes: fc.nat({ max: 50 }),
      lastUsed: fc.nat(),
      use: fc.constantFrom("idle" as const, "busy" as const),
    });
    fc.assert(
      fc.property(fc.uniqueArray(one, { selector: ({ lastUsed }) => lastUsed }), (zygotes) => {
        const measured = zygotes.map((zygote_) => ({ ...zygote_, totalBytes: zygote_.totalBytes ?? 60 }));
        const { cuts } = planMemory(measured, { zygoteMemoryBytes: 500, maxZygotes: 5 });
        const ended = new Set(cuts.filter(({ what }) => what === "zygote").map(({ id }) => id));
        const trimmed = new Set(cuts.filter(({ what }) => what === "children").map(({ id }) => id));
        const kept = measured.filter(({ id }) => !ended.has(id));
        const bytes = kept.reduce(
          (sum, it) => sum + it.totalBytes - (trimmed.has(it.id) ? it.idleBytes : 0),
          0,
        );
        const last = Math.max(...measured.map(({ lastUsed }) => lastUsed));
        const isLeast = kept.every(({ use, lastUsed }) => use === "busy" || lastUsed === last);
        expect(isLeast || (bytes <= 500 && kept.length <= 5)).toBe(true);
        for (const { id, use } of measured)
          expect(use === "busy" && (ended.has(id) || trimmed.has(id))).toBe(false);
      }),
    );
  });
});
