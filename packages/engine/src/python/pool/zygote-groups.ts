import { randomBytes } from "node:crypto";
import { closeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { GIGABYTE, MEGABYTE } from "../../base/bytes.ts";
import { SECOND } from "../../base/time.ts";
import type { Resources } from "@platform/contract/project";
import type { RunnableVersion } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import type { Cgroups, Group, GroupLimits } from "../sandbox/cgroups/cgroups.ts";
import { joinFirst } from "../sandbox/cgroups/join-first.ts";
import type { Command } from "../sandbox/cgroups/join-first.ts";
import { PROCESS_LIMIT } from "../sandbox/sandbox.ts";

/** Beside the limit of a version: enough for a MemoryError to be raised and reported before the kernel kills. The runner's own limits leave as much. */
const RUN_RESERVE_BYTES = 32 * MEGABYTE;
/** The interpreter and the runner, and the page tables of the children, before they are in groups of their own. */
export const ZYGOTE_RESERVE_BYTES = 96 * MEGABYTE;
/** What a child takes, with its namespaces, until it is moved into a group of its own. */
const CHILD_RESERVE_BYTES = 4 * MEGABYTE;

/** What has few processor shares needs long to give its memory back. */
const RETRY_MS = 5 * SECOND;

const MOST_CHILDREN = 128;
/** Where the capacity of the worker is not known. */
const DEFAULT_CHILDREN = 32;
/** Children that have answered and have not ended. */
const LEAVING_CHILDREN = 4;

/** How many children of a version can exist at the same time: as many as the worker can run, spare ones, and some that are ending. */
export function countChildren(
  resources: Resources,
  { capacity, slots }: Pick<Settings, "capacity" | "slots">,
): number {
  if (capacity === null) return DEFAULT_CHILDREN;
  const running = Math.min(capacity.cpu / resources.cpu, capacity.memory / resources.memory);
  return Math.min(MOST_CHILDREN, Math.max(1, Math.floor(running)) + slots + LEAVING_CHILDREN);
}

/** What one execution may use; `version.resources` with what the runner needs to report that they are exceeded. */
export function limitRun({ cpu, memory }: Resources): {
  readonly memoryBytes: number;
  readonly cpus: number;
} {
  return { memoryBytes: Math.round(memory * GIGABYTE) + RUN_RESERVE_BYTES, cpus: cpu };
}

/** The control groups of one zygote: one for itself, and one (a slot) for each child. Only Node can move a process into a slot. */
export interface ZygoteGroups {
  /** Open descriptors for joining its own group, for the process that becomes the zygote. Close them after its start. */
  readonly descriptors: readonly number[];
  readonly closeDescriptors: () => void;
  /** The command, begun in the zygote's own group. */
  readonly join: (command: Command) => Command;
  /** A child enters its slot soon: see `Cgroups`. */
  readonly expectChild: () => void;
  /** Another group for a child. Throws the system's error when it is refused. */
  readonly createSlot: () => Group;
  /** False once they are being removed. */
  readonly isOpen: () => boolean;
  /** Whether the kernel killed a process of the zygote's own group because of its memory; false once they are being removed, or were by others. */
  readonly hasExceeded: () => boolean;
  /** SIGKILL to all processes in them. Never throws. */
  readonly kill: () => void;
  /** Ends all processes in them, and removes them. False: some of those did not end in time; then it can be repeated. */
  readonly remove: () => Promise<boolean>;
}

/**
 * @param first the number that the first descriptor has in the process
 * @throws the system's error when the group or a descriptor is refused; none is left then
 */
export function createZygoteGroups(
  cgroups: Cgroups,
  { resources }: Pick<RunnableVersion, "resources">,
  { maxChildren, first }: { readonly maxChildren: number; readonly first: number },
): ZygoteGroups {
  // The zygote joins when its process is started, which takes that long.
  cgroups.expectEntry();
  const name = randomBytes(6).toString("hex");
  const own = createGroup(cgroups, name, {
    memoryBytes:
      Math.round(resources.memory * GIGABYTE) + ZYGOTE_RESERVE_BYTES + maxChildren * CHILD_RESERVE_BYTES,
    // An import has at least one processor: it would otherwise take ten times as long for a version with a tenth of one.
    cpus: Math.max(1, resources.cpu),
    // With the children until they are moved.
    processes: PROCESS_LIMIT + maxChildren,
  });
  const descriptors = openJoins(own);
  let groups: Group[] = [own];
  let leaving: readonly Group[] = [];
  let created = 0;
  own.begin();

  return {
    descriptors,
    closeDescriptors: () => descriptors.forEach((descriptor) => closeSync(descriptor)),
    join: (command) => joinFirst(command, first, descriptors.length),
    expectChild: cgroups.expectEntry,
    createSlot: () => {
      const limits = { ...limitRun(resources), processes: PROCESS_LIMIT };
      const slot = createGroup(cgroups, `${name}-${(created += 1)}`, limits);
      groups.push(slot);
      return slot;
    },
    isOpen: () => groups.length > 0,
    hasExceeded: () => {
      try {
        return (groups[0]?.measure().outOfMemoryKills ?? 0) > 0;
      } catch {
        return false;
      }
    },
    kill: () => groups.forEach(killGroup),
    remove: async () => {
      const asked = [...leaving, ...groups];
      groups = [];
      const ends = await Promise.allSettled(asked.map((group) => group.remove()));
      leaving = asked.filter((_, index) => ends[index]?.status !== "fulfilled" || !ends[index].value);
      return leaving.length === 0;
    },
  };
}

/** Removes the groups of a zygote, if there are any, and then calls `release`: later, and after this resolves, where they do not end in time. */
export async function removeBefore(groups: ZygoteGroups | null, release: () => void): Promise<void> {
  if (groups === null || (await groups.remove())) release();
  else void removeLater(groups).then(release);
}

async function removeLater(groups: ZygoteGroups): Promise<void> {
  do await delay(RETRY_MS, undefined, { ref: false });
  while (!(await groups.remove()));
}

function killGroup(group: Group): void {
  try {
    group.kill();
  } catch {
    // Others have removed it, with all that was in it.
  }
}

function createGroup(cgroups: Cgroups, name: string, limits: GroupLimits): Group {
  const group = cgroups.create(name);
  try {
    group.limit(limits);
    return group;
  } catch (error) {
    void group.remove();
    throw error;
  }
}

function openJoins(group: Group): readonly number[] {
  try {
    return group.openJoins();
  } catch (error) {
    void group.remove();
    throw error;
  }
}
