import { randomBytes } from "node:crypto";
import { closeSync } from "node:fs";
import { GIGABYTE, MEGABYTE } from "../../base/bytes.ts";
import type { Resources } from "@platform/contract/project";
import type { RunnableVersion } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import type { Cgroups, Group, GroupLimits } from "../sandbox/cgroups/cgroups.ts";
import { joinFirst } from "../sandbox/cgroups/join-first.ts";
import type { Command } from "../sandbox/cgroups/join-first.ts";

/** Processes and threads of one execution, and of an import. */
const PROCESS_LIMIT = 256;
/** Beside the limit of a version: enough for a MemoryError to be raised and reported before the kernel kills. The runner's own limits leave as much. */
const RUN_RESERVE_BYTES = 32 * MEGABYTE;
/** The interpreter and the runner, and the page tables of the children, before they are in groups of their own. */
export const ZYGOTE_RESERVE_BYTES = 96 * MEGABYTE;

const MAX_SLOTS = 128;
/** Where the capacity of the worker is not known. */
const DEFAULT_SLOTS = 32;
/** Children that have answered and have not ended. */
const LEAVING_SLOTS = 4;

/** How many children of a version can exist at the same time: as many as the worker can run, spare ones, and some that are ending. */
export function countSlots(
  resources: Resources,
  { capacity, slots }: Pick<Settings, "capacity" | "slots">,
): number {
  if (capacity === null) return DEFAULT_SLOTS;
  const running = Math.min(capacity.cpu / resources.cpu, capacity.memory / resources.memory);
  return Math.min(MAX_SLOTS, Math.max(1, Math.floor(running)) + slots + LEAVING_SLOTS);
}

/** What one execution may use; `version.resources` with what the runner needs to report that they are exceeded. */
export function limitRun({ cpu, memory }: Resources): {
  readonly memoryBytes: number;
  readonly cpus: number;
} {
  return { memoryBytes: Math.round(memory * GIGABYTE) + RUN_RESERVE_BYTES, cpus: cpu };
}

/** The control groups of one zygote: one for itself, and one (a slot) for each child that can exist at the same time. */
export interface ZygoteGroups {
  /** Open descriptors that the zygote's process inherits with consecutive numbers. Close them after its start. */
  readonly descriptors: readonly number[];
  readonly closeDescriptors: () => void;
  /** The command, begun in the zygote's own group. */
  readonly join: (command: Command) => Command;
  /** For each slot, the numbers that the descriptors for joining it have in the zygote. */
  readonly joins: readonly (readonly number[])[];
  /** Null once they are being removed. */
  readonly find: (slot: number) => Group | null;
  /** Whether the kernel killed a process of the zygote's own group because of its memory; false once they are being removed. */
  readonly hasExceeded: () => boolean;
  /** SIGKILL to all processes in them. */
  readonly kill: () => void;
  /** Ends all processes in them; resolves when the groups are removed, or could not be in time. */
  readonly remove: () => Promise<void>;
}

/**
 * @param first the number that the first descriptor has in the zygote
 * @throws the system's error when a group or a descriptor is refused; none is left then
 */
export function createZygoteGroups(
  cgroups: Cgroups,
  { resources }: Pick<RunnableVersion, "resources">,
  { slotCount, first }: { readonly slotCount: number; readonly first: number },
): ZygoteGroups {
  let groups: readonly Group[] = createGroups(cgroups, resources, slotCount);
  const [own = [], ...slots] = openJoins(groups);
  const descriptors = [...own, ...slots.flat()];
  const numbers = descriptors.map((_, index) => first + index).slice(own.length);

  return {
    descriptors,
    closeDescriptors: () => descriptors.forEach((descriptor) => closeSync(descriptor)),
    join: (command) => joinFirst(command, first, own.length),
    joins: slots.map((_, slot) => numbers.slice(slot * own.length, (slot + 1) * own.length)),
    find: (slot) => groups[slot + 1] ?? null,
    hasExceeded: () => (groups[0]?.measure().outOfMemoryKills ?? 0) > 0,
    kill: () => groups.forEach((group) => group.kill()),
    remove: async () => {
      const removed = groups;
      groups = [];
      await removeAll(removed);
    },
  };
}

/** That of the zygote, then one for each slot. */
function createGroups(cgroups: Cgroups, resources: Resources, slotCount: number): readonly Group[] {
  const name = randomBytes(6).toString("hex");
  const memoryBytes = Math.round(resources.memory * GIGABYTE);
  const groups: Group[] = [];
  function create(suffix: string, limits: GroupLimits): void {
    const group = cgroups.create(`${name}${suffix}`);
    groups.push(group);
    group.limit(limits);
  }
  try {
    // An import has at least one processor: it would otherwise take ten times as long for a version with a tenth of one.
    create("", {
      memoryBytes: memoryBytes + ZYGOTE_RESERVE_BYTES,
      cpus: Math.max(1, resources.cpu),
      processes: PROCESS_LIMIT + slotCount,
    });
    groups[0]?.begin();
    for (let slot = 0; slot < slotCount; slot += 1)
      create(`-${slot}`, { ...limitRun(resources), processes: PROCESS_LIMIT });
    return groups;
  } catch (error) {
    void removeAll(groups);
    throw error;
  }
}

function openJoins(groups: readonly Group[]): ReadonlyArray<readonly number[]> {
  const opened: Array<readonly number[]> = [];
  try {
    for (const group of groups) opened.push(group.openJoins());
    return opened;
  } catch (error) {
    opened.flat().forEach((descriptor) => closeSync(descriptor));
    void removeAll(groups);
    throw error;
  }
}

async function removeAll(groups: readonly Group[]): Promise<void> {
  await Promise.all(groups.map((group) => group.remove()));
}
