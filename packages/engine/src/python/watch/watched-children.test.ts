import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWatchedChildren } from "./watched-children.ts";
import type { Watcher } from "./watcher.ts";

const LIMITS = { memoryBytes: 1, cpus: 1 };
let child: ChildProcess;
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

beforeEach(async () => {
  said = [];
  child = spawn("/bin/sleep", ["60"], { stdio: "ignore" });
  await once(child, "spawn");
});
afterEach(async () => {
  const ended = once(child, "close");
  child.kill("SIGKILL");
  await ended;
});

function openChildren(startMode: "auto" | "spawn" = "auto") {
  const children = createWatchedChildren(watcher, LIMITS, startMode);
  children.open(process.pid, process.pid);
  return children;
}

test("a child in preparation is not watched; it is from when it runs", () => {
  const children = openChildren();
  children.meet(1, child.pid ?? 0);
  expect(said).toEqual([]);
  children.begin(1);
  expect(said).toEqual([`watch ${child.pid}`]);
});

test("a child that imports the version itself is watched while it does", () => {
  openChildren("spawn").meet(1, child.pid ?? 0);
  expect(said).toEqual([`watch ${child.pid}`]);
});

test("a child that runs before its zygote has said which process it is is watched from then on", () => {
  const children = openChildren();
  children.begin(1);
  expect(children.measure(1)).toBeNull();
  children.meet(1, child.pid ?? 0);
  children.meet(1, child.pid ?? 0);
  expect(said).toEqual([`watch ${child.pid}`]);
});

test("nothing is watched any more when the zygote has ended", () => {
  const children = openChildren();
  children.meet(1, child.pid ?? 0);
  children.begin(1);
  children.release(1);
  children.close();
  children.release(1);
  expect(said).toEqual([`watch ${child.pid}`, "release", "end"]);
});
