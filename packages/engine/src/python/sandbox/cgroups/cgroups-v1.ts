import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { MEGABYTE } from "../../../base/bytes.ts";
import type { Cgroups, Group, GroupLimits } from "./cgroups.ts";
import { createForerunner } from "./forerunner.ts";
import {
  createGroupFile,
  killProcesses,
  listProcesses,
  makeGroups,
  openAll,
  readCount,
  readHeld,
  writeIfPresent,
} from "./group-files.ts";
import type { GroupFile } from "./group-files.ts";
import { createDoors, createMover } from "./mover.ts";
import type { Mover } from "./mover.ts";
import { removeGroups, removeTrees } from "./remove-groups.ts";
import { V1_CONTROLLERS } from "./v1-controllers.ts";
import type { V1Folders } from "./v1-controllers.ts";

const PERIOD_MICROSECONDS = 100_000;
/** The kernel refuses less. */
const MIN_QUOTA_MICROSECONDS = 1000;
const NANOSECONDS = 1e9;
/** A charge that does not fit is refused so close to the limit, and not only at it: they are of several pages. */
const NEAR_BYTES = MEGABYTE;
/** The weight that a process without a group has. */
const SHARES_OF_A_PROCESSOR = 1024;

/** @param own the folder of this worker in each hierarchy; see admin-guide/cgroup-v1 of the kernel's documentation */
export function createCgroupsV1(own: V1Folders): Cgroups {
  const mover = createMover();
  const expectEntry = createForerunner();
  return {
    version: 1,
    create: (name) => {
      // Else all executions together have the weight of one other process of the host.
      if (mkdirSync(own.cpu, { recursive: true }) !== undefined)
        writeFileSync(join(own.cpu, "cpu.shares"), String(SHARES_OF_A_PROCESSOR * availableParallelism()));
      mover.prepare();
      return createGroup(name, own, mover);
    },
    expectEntry,
    close: async () => {
      await mover.close();
      return removeTrees(listFolders(own));
    },
  };
}

/** Each folder once. */
export function listFolders(folders: V1Folders): readonly string[] {
  return [...new Set(V1_CONTROLLERS.map((controller) => folders[controller]))];
}

function createGroup(name: string, own: V1Folders, mover: Mover): Group {
  const memory = join(own.memory, name);
  const cpuacct = join(own.cpuacct, name);
  const folders = listFolders(own).map((folder) => join(folder, name));
  makeGroups(folders);
  const peaks = createPeaks(memory);
  const kills = createGroupFile(join(memory, "memory.oom_control"));
  const cpu = createGroupFile(join(cpuacct, "cpuacct.usage"));
  // Not cgroup.procs, of which the kernel may show a list from a second ago to those who read it again.
  const processes = createGroupFile(join(own.pids, name, "pids.current"));
  const sockets = createSocketMemory(memory);
  const total = createGroupFile(join(memory, "memory.usage_in_bytes"));
  const parts = createGroupFile(join(memory, "memory.stat"));
  const doors = createDoors(folders, listFolders(own).map(dirname), mover);
  const countKills = (): number => readCount(kills.read(), "oom_kill");
  let before = { kills: 0, cpu: 0 };

  return {
    openJoins: () => openAll(folders.map((folder) => join(folder, "cgroup.procs"))),
    limit: (limits) => {
      limitGroup({ memory, cpu: join(own.cpu, name), pids: join(own.pids, name) }, limits);
      sockets.limit(limits.memoryBytes);
      peaks.limit(limits.memoryBytes);
    },
    begin: () => {
      peaks.begin();
      sockets.begin();
      before = { kills: countKills(), cpu: Number(cpu.read()) };
    },
    measure: () => {
      const killed = countKills() - before.kills;
      return {
        cpuSeconds: (Number(cpu.read()) - before.cpu) / NANOSECONDS,
        peakMemoryBytes: peaks.read(),
        outOfMemoryKills: killed > 0 && peaks.wereAtLimit() ? killed : 0,
      };
    },
    enter: doors.enter,
    // What has ended but was not waited for is counted there, and not listed.
    isEmpty: () => Number(processes.read()) === 0 || listProcesses(memory).length === 0,
    readHeldMemory: () => readHeld(total, parts),
    kill: () => (doors.isMoving() ? undefined : killProcesses(memory)),
    remove: async () => {
      await doors.close();
      for (const file of [peaks, kills, cpu, processes, sockets, total, parts]) file.close();
      return removeGroups(folders);
    },
  };
}

function limitGroup(
  { memory, cpu, pids }: Omit<V1Folders, "cpuacct">,
  { memoryBytes, cpus, processes }: GroupLimits,
): void {
  writeFileSync(join(memory, "memory.limit_in_bytes"), String(memoryBytes));
  // Memory and swap together; missing where the kernel does not count swap.
  writeIfPresent(join(memory, "memory.memsw.limit_in_bytes"), String(memoryBytes));
  const quota = Math.max(MIN_QUOTA_MICROSECONDS, Math.round(cpus * PERIOD_MICROSECONDS));
  writeFileSync(join(cpu, "cpu.cfs_period_us"), String(PERIOD_MICROSECONDS));
  writeFileSync(join(cpu, "cpu.cfs_quota_us"), String(quota));
  writeFileSync(join(pids, "pids.max"), String(processes));
}

interface Peaks extends Pick<GroupFile, "close"> {
  readonly limit: (bytes: number) => void;
  readonly begin: () => void;
  /** The largest amount of memory since `begin`. */
  readonly read: () => number;
  /** Whether the group was at its own limit since then. */
  readonly wereAtLimit: () => boolean;
}

/**
 * Among the kills of a group the kernel counts those as well that it did for a group above, or for the host, and here it has no count of its own for the
 * others; `failcnt` stays 0 in kernels of today (tried in Linux 6.18). A group that was never at its limit is not to blame. One whose page cache has
 * brought it there is blamed for what may have been the host's. Memory and swap together have the same limit, and reach it sooner where something is
 * swapped out; these files are missing where the kernel does not count swap.
 */
function createPeaks(memory: string): Peaks {
  const peak = createGroupFile(join(memory, "memory.max_usage_in_bytes"), "r+");
  const path = join(memory, "memory.memsw.max_usage_in_bytes");
  const together = createGroupFile(path, "r+");
  let most = 0;
  let isSwapCounted = false;
  const isAtLimit = (file: GroupFile): boolean => Number(file.read()) >= most - NEAR_BYTES;
  return {
    limit: (bytes) => {
      most = bytes;
      isSwapCounted = existsSync(path);
    },
    begin: () => {
      peak.write("0");
      if (isSwapCounted) together.write("0");
    },
    read: () => Number(peak.read()),
    wereAtLimit: () => isAtLimit(peak) || (isSwapCounted && isAtLimit(together)),
    close: () => {
      peak.close();
      together.close();
    },
  };
}

interface SocketMemory extends Pick<GroupFile, "close"> {
  readonly limit: (bytes: number) => void;
  readonly begin: () => void;
}

/**
 * What sockets of TCP and UDP hold in their buffers is no part of a group's memory here, and is counted for a group only if it has a limit
 * of its own: without, one run could take what the kernel allows to all sockets of the host together (net.ipv4.tcp_mem, udp_mem).
 * Connections outlive the process that closed them while they have something to send: a run must not find its share taken by the run before it.
 */
function createSocketMemory(memory: string): SocketMemory {
  const path = join(memory, "memory.kmem.tcp.limit_in_bytes");
  const used = createGroupFile(join(memory, "memory.kmem.tcp.usage_in_bytes"));
  let most: number | null = null;
  let left = 0;
  return {
    limit: (bytes) => {
      most = existsSync(path) ? bytes : null; // missing where the kernel does not count it
      if (most !== null) writeFileSync(path, String(most));
    },
    begin: () => {
      if (most === null) return;
      const now = Number(used.read());
      if (now === left) return;
      left = now;
      writeFileSync(path, String(most + left));
    },
    close: used.close,
  };
}
