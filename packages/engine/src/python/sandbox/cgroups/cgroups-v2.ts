import { existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { getCode } from "../../../base/thrown.ts";
import type { Cgroups, Group, GroupLimits } from "./cgroups.ts";
import { createForerunner } from "./forerunner.ts";
import { createGroupFile, killProcesses, readCount, readHeld, writeIfPresent } from "./group-files.ts";
import type { GroupFile } from "./group-files.ts";
import { createDoors, createMover } from "./mover.ts";
import type { Mover } from "./mover.ts";
import { REST } from "./names.ts";
import { removeGroups, removeTrees } from "./remove-groups.ts";

/** The controllers that a run needs. */
export const V2_CONTROLLERS = ["memory", "cpu", "pids"] as const;

const PERIOD_MICROSECONDS = 100_000;
/** The kernel refuses less. */
const MIN_QUOTA_MICROSECONDS = 1000;
const MICROSECONDS = 1e6;
/** The default of every group. */
const WEIGHT_OF_A_PROCESSOR = 100;
const MAX_WEIGHT = 10_000;

/** @param own the folder of this worker, below one that `delegateV2` prepared; see admin-guide/cgroup-v2 of the kernel's documentation */
export function createCgroupsV2(own: string, controllers: readonly string[] = V2_CONTROLLERS): Cgroups {
  const mover = createMover();
  const expectEntry = createForerunner();
  return {
    version: 2,
    create: (name) => {
      if (mkdirSync(own, { recursive: true }) !== undefined) {
        enableControllers(own, controllers);
        // Else all executions together have the weight of one other group of the host.
        weighAsProcessors(own);
      }
      mover.prepare();
      return createGroup(join(own, name), mover);
    },
    expectEntry,
    close: async () => {
      await mover.close();
      return removeTrees([own]);
    },
  };
}

/** Gives the groups directly below a group these controllers. */
export function enableControllers(group: string, controllers: readonly string[]): void {
  const text = controllers.map((name) => `+${name}`).join(" ");
  writeFileSync(join(group, "cgroup.subtree_control"), text);
}

/** Gives a group the weight of as many processes as there are processors. */
export function weighAsProcessors(group: string): void {
  const weight = Math.min(MAX_WEIGHT, WEIGHT_OF_A_PROCESSOR * availableParallelism());
  writeIfPresent(join(group, "cpu.weight"), String(weight));
}

function createGroup(folder: string, mover: Mover): Group {
  mkdirSync(folder, { recursive: true });
  const events = createGroupFile(join(folder, "memory.events"));
  const cpu = createGroupFile(join(folder, "cpu.stat"));
  const state = createGroupFile(join(folder, "cgroup.events"));
  const total = createGroupFile(join(folder, "memory.current"));
  const parts = createGroupFile(join(folder, "memory.stat"));
  const doors = createDoors([folder], [findOutside(dirname(dirname(folder)))], mover);
  const peak = createPeak(join(folder, "memory.peak"));
  const countEvents = () => {
    const text = events.read();
    return { kills: readCount(text, "oom_kill"), excesses: readCount(text, "oom") };
  };
  const readCpu = (): number => readCount(cpu.read(), "usage_usec");
  let before = { kills: 0, excesses: 0, cpu: 0 };

  return {
    openJoins: () => [openSync(join(folder, "cgroup.procs"), "w")],
    limit: (limits) => limitGroup(folder, limits),
    begin: () => {
      peak.begin();
      before = { ...countEvents(), cpu: readCpu() };
    },
    measure: () => {
      const { kills, excesses } = countEvents();
      return {
        cpuSeconds: (readCpu() - before.cpu) / MICROSECONDS,
        peakMemoryBytes: peak.read(),
        // `oom_kill` counts those as well that were killed for a group above this one, or for the host; `oom` counts where this group's limit was reached.
        outOfMemoryKills: excesses > before.excesses ? kills - before.kills : 0,
      };
    },
    enter: doors.enter,
    isEmpty: () => readCount(state.read(), "populated") === 0,
    readHeldMemory: () => readHeld(total, parts),
    kill: () => (doors.isMoving() ? undefined : killGroup(folder)),
    remove: async () => {
      await doors.close();
      for (const file of [events, cpu, state, total, parts, peak]) file.close();
      return removeGroups([folder]);
    },
  };
}

/** Where processes may be beside the worker's group: only the root of the whole hierarchy has both groups and processes. */
function findOutside(base: string): string {
  const rest = join(base, REST);
  return existsSync(rest) ? rest : base;
}

function limitGroup(folder: string, { memoryBytes, cpus, processes }: GroupLimits): void {
  writeFileSync(join(folder, "memory.max"), String(memoryBytes));
  // Missing where the kernel does not count swap.
  writeIfPresent(join(folder, "memory.swap.max"), "0");
  // All of a run ends together: a survivor would go on with half of its processes.
  writeFileSync(join(folder, "memory.oom.group"), "1");
  const quota = Math.max(MIN_QUOTA_MICROSECONDS, Math.round(cpus * PERIOD_MICROSECONDS));
  writeFileSync(join(folder, "cpu.max"), `${quota} ${PERIOD_MICROSECONDS}`);
  writeFileSync(join(folder, "pids.max"), String(processes));
}

/** `cgroup.kill` exists since Linux 5.14, and no fork escapes it. */
function killGroup(folder: string): void {
  try {
    writeFileSync(join(folder, "cgroup.kill"), "1", { flag: "r+" });
  } catch (error) {
    if (getCode(error) !== "ENOENT") throw error;
    killProcesses(folder);
  }
}

interface Peak extends Pick<GroupFile, "close"> {
  readonly begin: () => void;
  readonly read: () => number | null;
}

/**
 * `memory.peak` is since the group exists. Since Linux 6.12 a write starts it anew for those who read by the same descriptor. Before
 * that, it says something of this run only where this run raised it; before Linux 5.19 the file does not exist.
 */
function createPeak(path: string): Peak {
  const file = createGroupFile(path, "r+");
  const fallback = createGroupFile(path);
  let source: "reset" | "raised" | "none" = "reset";
  let before = 0;

  function begin(): void {
    if (source === "reset" && !tryTo(() => file.write("reset"))) source = "raised";
    if (source === "raised" && !tryTo(() => (before = Number(fallback.read())))) source = "none";
  }

  function read(): number | null {
    if (source === "none") return null;
    if (source === "reset") return Number(file.read());
    const peak = Number(fallback.read());
    return peak > before ? peak : null;
  }

  return {
    begin,
    read,
    close: () => {
      file.close();
      fallback.close();
    },
  };
}

function tryTo(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
