import { MEGABYTE } from "../../base/bytes.ts";
import type { Group } from "../sandbox/cgroups/cgroups.ts";
import type { ZygoteGroups } from "./zygote-groups.ts";

const PAUSE_MS = 10;
/** What a child leaves in its slot is waited for this often: a descriptor that it sent along with its output lives until that is read. */
const MAX_LOOKS_AT_MEMORY = 100;
/** What nobody misses. */
const LEFT_BYTES = 4 * MEGABYTE;
const ENOUGH_SIGHTINGS = 4;

/**
 * Which child of a zygote is in which control group (slot). A slot is given to another child only once it is empty: a zygote may say that
 * a child is gone which is not, and memory that it has left would be missing to the next one.
 */
export interface SlotBook {
  /** Empties the slot, then starts its measurement and calls back with the descriptors for joining it; at once if it is empty. */
  readonly take: (child: number, slot: number, onReady: (joins: readonly number[]) => void) => void;
  /** The group of a child; null: it has none, or it is gone. */
  readonly find: (child: number) => Group | null;
  /** Ends what is left of a child that is said to be gone, and forgets it; calls back, at once if it can, when nothing is left. */
  readonly bury: (child: number, onEmpty: () => void) => void;
  /**
   * Whether a slot that no child has holds memory of a process: the zygote has moved into it. It has the descriptors for joining all slots,
   * and code at import could collect the memory of each. Looks at one slot a call, about every second, and several times before it says so:
   * the kernel may count what has ended for two seconds.
   */
  readonly findIntruder: () => boolean;
}

/** @param readGroups null until the process is started, and where there are no control groups */
export function createSlotBook(readGroups: () => ZygoteGroups | null): SlotBook {
  const slots = new Map<number, number>();
  /** Callbacks for each slot that is being emptied. */
  const waiting = new Map<number, Array<() => void>>();

  function find(child: number): Group | null {
    const slot = slots.get(child);
    return slot === undefined ? null : (readGroups()?.find(slot) ?? null);
  }

  function forget(slot: number): void {
    for (const [child, taken] of slots) if (taken === slot) slots.delete(child);
  }

  function empty(slot: number, onEmpty: () => void): void {
    const others = waiting.get(slot);
    if (others !== undefined) return void others.push(onEmpty);
    waiting.set(slot, [onEmpty]);
    look(slot, MAX_LOOKS_AT_MEMORY);
  }

  function look(slot: number, looksAtMemory: number): void {
    const group = readGroups()?.find(slot) ?? null;
    const hasEnded = group === null || group.isEmpty();
    if (hasEnded && (group === null || looksAtMemory === 0 || group.readSharedMemory() < LEFT_BYTES)) {
      const callbacks = waiting.get(slot) ?? [];
      waiting.delete(slot);
      for (const call of callbacks) call();
      return;
    }
    if (!hasEnded) group.kill();
    setTimeout(() => look(slot, hasEnded ? looksAtMemory - 1 : looksAtMemory), PAUSE_MS);
  }

  function hasIntruder(slot: number): boolean {
    if (waiting.has(slot) || [...slots.values()].includes(slot)) return false;
    return (readGroups()?.find(slot)?.readAnonymousMemory() ?? 0) >= LEFT_BYTES;
  }

  return {
    findIntruder: createSearch(() => readGroups()?.joins.length ?? 0, hasIntruder),
    find,
    take: (child, slot, onReady) =>
      empty(slot, () => {
        forget(slot);
        slots.set(child, slot);
        find(child)?.begin();
        onReady(readGroups()?.joins[slot] ?? []);
      }),
    bury: (child, onEmpty) => {
      const slot = slots.get(child);
      if (slot === undefined) return onEmpty();
      slots.delete(child);
      return empty(slot, onEmpty);
    },
  };
}

/** Looks at one slot a call, and at the same again as long as something is there. */
function createSearch(count: () => number, hasIntruder: (slot: number) => boolean): () => boolean {
  let looked = -1;
  let sightings = 0;
  return () => {
    const slots = count();
    if (slots === 0) return false;
    if (sightings === 0) looked = (looked + 1) % slots;
    sightings = hasIntruder(looked) ? sightings + 1 : 0;
    return sightings >= ENOUGH_SIGHTINGS;
  };
}
