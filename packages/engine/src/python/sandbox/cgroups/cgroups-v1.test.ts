import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCgroupsV1 } from "./cgroups-v1.ts";
import type { Group } from "./cgroups.ts";

/** The formats of the files, as admin-guide/cgroup-v1 of the kernel's documentation describes them, in an ordinary folder, as in cgroups-v2.test.ts. */
let folder: string;
let group: Group;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cgroups-v1-"));
  group = createCgroupsV1({ memory: folder, cpu: folder, cpuacct: folder, pids: folder }).create("run");
});
afterEach(() => rmSync(folder, { recursive: true }));

const MOST = 100 << 20;

const write = (name: string, text: string) => writeFileSync(join(folder, "run", name), text);

const readStart = (name: string) => readFileSync(join(folder, "run", name), "utf8").charAt(0);

/** `peaks`: of memory, and of memory and swap together where the kernel counts that. */
function writeCounts(kills: number, [memory, together]: readonly [number, number?]): void {
  write("memory.oom_control", `oom_kill_disable 0\nunder_oom 0\noom_kill ${kills}\n`);
  write("memory.max_usage_in_bytes", `${memory}\n`);
  if (together !== undefined) write("memory.memsw.max_usage_in_bytes", `${together}\n`);
  write("cpuacct.usage", "0\n");
}

test.each<readonly [string, number, readonly [number, number?], number]>([
  ["its own limit", 3, [MOST], 1],
  ["its own limit, of which some pages were free", 3, [MOST - 65_536], 1],
  ["its own limit of memory and swap together", 3, [1, MOST], 1],
  ["want of memory elsewhere", 3, [MOST / 2], 0],
  ["want of memory elsewhere, where swap is counted", 3, [1, MOST / 2], 0],
  ["nothing, but was at its limit, as the page cache is", 2, [MOST, MOST], 0],
])("a process that was killed for %s counts so", (_what, kills, peaks, counted) => {
  writeCounts(2, peaks.length === 1 ? [0] : [0, 0]);
  group.limit({ memoryBytes: MOST, cpus: 1, processes: 1 });
  group.begin();
  writeCounts(kills, peaks);
  expect(group.measure().outOfMemoryKills).toBe(counted);
});

test("what an earlier run has reached counts for that run alone", () => {
  writeCounts(2, [MOST, MOST]);
  group.limit({ memoryBytes: MOST, cpus: 1, processes: 1 });
  group.begin();
  // To write anything starts the kernel's count anew.
  expect([readStart("memory.max_usage_in_bytes"), readStart("memory.memsw.max_usage_in_bytes")]).toEqual([
    "0",
    "0",
  ]);
});
