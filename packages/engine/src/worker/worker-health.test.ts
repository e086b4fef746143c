import { describe, expect, test } from "vitest";
import { HOUR } from "../base/time.ts";
import { readPermit, reduceHealth, SOUND } from "./worker-health.ts";
import type { HealthEvent, WorkerHealth } from "./worker-health.ts";

const failed = (versionId: string, at: number, scope: "worker" | "version" = "worker"): HealthEvent => ({
  type: "failed",
  versionId,
  scope,
  at,
});
const started = (versionId: string): HealthEvent => ({ type: "started", versionId });
const play = (...events: readonly HealthEvent[]): WorkerHealth => events.reduce(reduceHealth, SOUND);
const RESTING = play(failed("a", 0), failed("b", 1), failed("c", 2));

/** The first moment from `at` on at which it may claim; a pause is looked for in steps of a second. */
function findPermitted(health: WorkerHealth, at: number): number {
  for (let time = at; time < at + HOUR; time += 1_000)
    if (readPermit(health, 32, 0, time).limit > 0) return time;
  throw new Error("It never claims again.");
}

describe("what a worker may claim", () => {
  test("is everything while nothing fails", () => {
    expect(readPermit(play(started("a")), 32, 5, 0)).toEqual({ limit: 32, excludedVersionIds: [] });
  });

  test("leaves out a version that could not be started, for longer each time, but never for good", () => {
    const once = play(failed("a", 0));
    expect(readPermit(once, 32, 0, 1)).toEqual({ limit: 32, excludedVersionIds: ["a"] });
    expect(readPermit(once, 32, 0, 60_000).excludedVersionIds).toEqual([]);
    const often = play(...Array.from({ length: 12 }, (_, index) => failed("a", index * 300_000)));
    const last = 11 * 300_000;
    expect(readPermit(often, 32, 0, last + 60_000).excludedVersionIds).toEqual(["a"]);
    expect(readPermit(often, 32, 0, last + 301_000).excludedVersionIds).toEqual([]);
  });

  test("counts executions of a version that fail together as one fault", () => {
    const together = play(failed("a", 0), failed("a", 1), failed("a", 2), failed("a", 3));
    expect(readPermit(together, 32, 0, 6_000)).toEqual({ limit: 32, excludedVersionIds: [] });
  });

  test("is nothing after several versions failed in a row, then one at a time", () => {
    expect(readPermit(RESTING, 32, 0, 3).limit).toBe(0);
    const probeAt = findPermitted(RESTING, 3);
    expect(readPermit(RESTING, 32, 0, probeAt).limit).toBe(1);
    expect(readPermit(RESTING, 32, 1, probeAt).limit).toBe(0);
  });

  test("is nothing for longer when the one that was tried fails as well; everything once it starts", () => {
    const probeAt = findPermitted(RESTING, 3);
    const again = reduceHealth(RESTING, failed("d", probeAt));
    expect(findPermitted(again, probeAt) - probeAt).toBeGreaterThan(probeAt - 2);
    expect(readPermit(reduceHealth(again, started("e")), 32, 7, probeAt).limit).toBe(32);
  });

  test("does not shrink by what was claimed before the rest and fails during it", () => {
    const late = [failed("x", 3), failed("y", 4), failed("z", 5)].reduce(reduceHealth, RESTING);
    expect(findPermitted(late, 3)).toBe(findPermitted(RESTING, 3));
  });

  test("is everything where versions fail one by one among others that start", () => {
    const mixed = play(failed("a", 0), started("x"), failed("b", 1), started("x"), failed("c", 2));
    expect(readPermit(mixed, 32, 9, 3).limit).toBe(32);
  });

  test("is everything else where versions brought it about themselves, however many", () => {
    const hostile = play(...["a", "b", "c", "d", "e"].map((id, index) => failed(id, index, "version")));
    const permit = readPermit(hostile, 32, 9, 6);
    expect([permit.limit, permit.excludedVersionIds]).toEqual([32, ["a", "b", "c", "d", "e"]]);
  });

  test("forgets versions that failed long ago", () => {
    const later = reduceHealth(play(failed("a", 0)), failed("b", HOUR));
    expect([...later.excluded.keys()]).toEqual(["b"]);
  });
});
