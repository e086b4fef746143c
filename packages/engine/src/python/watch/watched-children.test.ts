import { beforeEach, expect, test } from "vitest";
import type { Leader } from "./family.ts";
import { createWatchedChildren } from "./watched-children.ts";
import type { Watcher } from "./watcher.ts";

const LIMITS = { memoryBytes: 1, cpus: 1 };
let said: string[];
const watcher: Watcher = {
  watch: ({ stat }) => {
    said.push(`watch ${stat.pid}`);
    return {
      measure: () => ({ cpuSeconds: 0, peakMemoryBytes: 0, outOfMemoryKills: 0 }),
      look: async () => undefined,
      release: () => void said.push("release"),
      end: () => void said.push("end"),
    };
  },
};

beforeEach(() => {
  said = [];
});

function createLeader(pid: number): Leader {
  const stat = { pid, parent: 1, session: pid, start: "1", cpuSeconds: 0, residentBytes: 0 };
  return { stat, zygote: 1, inheritedBytes: 0, isApart: true, isWarden: false };
}

test("a child in preparation is not watched; it is from when it runs", () => {
  const children = createWatchedChildren(watcher, LIMITS, "auto");
  children.meet(1, createLeader(11));
  expect([said, children.measure(1)]).toEqual([[], null]);
  children.begin(1);
  expect(said).toEqual(["watch 11"]);
  expect(children.measure(1)).not.toBeNull();
});

test("a child that imports the version itself is watched while it does", () => {
  createWatchedChildren(watcher, LIMITS, "spawn").meet(1, createLeader(11));
  expect(said).toEqual(["watch 11"]);
});

test("a child is the process that its zygote named first", () => {
  const children = createWatchedChildren(watcher, LIMITS, "auto");
  children.meet(1, createLeader(11));
  children.meet(1, createLeader(12));
  children.begin(1);
  children.meet(1, createLeader(13));
  expect(said).toEqual(["watch 11"]);
});

test("nothing is watched any more when the zygote has ended", () => {
  const children = createWatchedChildren(watcher, LIMITS, "auto");
  children.meet(1, createLeader(11));
  children.begin(1);
  children.release(1);
  children.close();
  children.release(1);
  expect(said).toEqual(["watch 11", "release", "end"]);
});
