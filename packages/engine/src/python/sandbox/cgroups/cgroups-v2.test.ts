import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCgroupsV2 } from "./cgroups-v2.ts";
import { delegateV2 } from "./delegate-v2.ts";
import { REST } from "./names.ts";

/*
 * The formats of the files, as admin-guide/cgroup-v2 of the kernel's documentation describes them, in an ordinary folder: few machines
 * have all these controllers below a group that a test may change. What joins, is killed and removed is tested in cgroups.test.ts.
 */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cgroups-v2-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): void {
  mkdirSync(join(folder, "run"), { recursive: true });
  writeFileSync(join(folder, "run", name), text);
}

function read(name: string): string {
  return readFileSync(join(folder, "run", name), "utf8");
}

function writeCounts(kills: number, microseconds: number, peak: string, excesses = kills): void {
  write("memory.events", `low 0\nhigh 0\nmax 12\noom ${excesses}\noom_kill ${kills}\noom_group_kill 1\n`);
  write("cpu.stat", `usage_usec ${microseconds}\nuser_usec 1\nsystem_usec 2\n`);
  write("memory.peak", peak);
}

test("limits of memory, swap, processors and processes are written as the kernel reads them", () => {
  write("memory.swap.max", "max");
  createCgroupsV2(folder).create("run").limit({ memoryBytes: 104_857_600, cpus: 0.5, processes: 256 });
  expect([read("memory.max"), read("memory.swap.max"), read("memory.oom.group")]).toEqual([
    "104857600",
    "0",
    "1",
  ]);
  expect([read("cpu.max"), read("pids.max")]).toEqual(["50000 100000", "256"]);
});

test("a share of a processor below the kernel's minimum becomes the minimum", () => {
  createCgroupsV2(folder).create("run").limit({ memoryBytes: 1, cpus: 0.001, processes: 1 });
  expect(read("cpu.max")).toBe("1000 100000");
});

test("processor time and kills count from the beginning of the run", () => {
  const group = createCgroupsV2(folder).create("run");
  writeCounts(2, 5_000_000, "1000\n");
  group.begin();
  writeCounts(3, 6_500_000, "4096\n");
  expect(group.measure()).toEqual({ cpuSeconds: 1.5, peakMemoryBytes: 4096, outOfMemoryKills: 1 });
});

test("a process that is killed for want of memory elsewhere has not exceeded its own limit", () => {
  const group = createCgroupsV2(folder).create("run");
  writeCounts(3, 0, "1000\n", 2);
  group.begin();
  writeCounts(5, 0, "1000\n", 2);
  expect(group.measure()).toMatchObject({ outOfMemoryKills: 0 });
});

test("a kernel without memory.peak measures no peak", () => {
  const group = createCgroupsV2(folder).create("run");
  writeCounts(0, 0, "1000\n");
  rmSync(join(folder, "run/memory.peak"));
  group.begin();
  expect(group.measure().peakMemoryBytes).toBeNull();
});

test.each([
  ["populated 1\nfrozen 0\n", false],
  ["populated 0\nfrozen 0\n", true],
])("a group with the events %j is empty: %s", (events, isEmpty) => {
  const group = createCgroupsV2(folder).create("run");
  write("cgroup.events", events);
  expect(group.isEmpty()).toBe(isEmpty);
});

test("a group whose controllers are in use already is shared with the worker that enabled them", () => {
  writeFileSync(join(folder, "cgroup.controllers"), "cpuset cpu io memory hugetlb pids\n");
  writeFileSync(join(folder, "cgroup.subtree_control"), "cpu memory pids\n");
  const base = delegateV2({ folder: join(folder, REST), top: folder });
  expect(base).toBe(folder);
  createCgroupsV2(join(base, "runs")).create("run");
  expect(readFileSync(join(base, "runs", "cgroup.subtree_control"), "utf8")).toBe("+memory +cpu +pids");
});

test("what is moved out of a divided group, as the worker and its database, weighs as many processes as there are processors", () => {
  const rest = join(folder, REST);
  mkdirSync(rest);
  writeFileSync(join(rest, "cpu.weight"), "100\n");
  writeFileSync(join(folder, "cgroup.type"), "domain\n"); // not the root of the hierarchy
  writeFileSync(join(folder, "cgroup.controllers"), "cpu memory pids\n");
  writeFileSync(join(folder, "cgroup.subtree_control"), "\n");
  expect(delegateV2({ folder, top: folder })).toBe(folder);
  expect(Number(readFileSync(join(rest, "cpu.weight"), "utf8"))).toBe(100 * availableParallelism());
});

test("missing controllers are named", () => {
  writeFileSync(join(folder, "cgroup.controllers"), "cpu hugetlb\n");
  expect(() => delegateV2({ folder, top: folder })).toThrow(
    `the controllers memory, pids are not available in ${folder}`,
  );
});
