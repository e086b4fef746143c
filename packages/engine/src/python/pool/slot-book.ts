import { MEGABYTE } from "../../base/bytes.ts";
import { readMonotonic } from "../../base/monotonic.ts";
import type { Group, KnownProcess } from "../sandbox/cgroups/cgroups.ts";
import type { ZygoteGroups } from "./zygote-groups.ts";

const PAUSE_MS = 10;
/** The room of an ended child waits this often for the memory that it has left: a descriptor that it sent along with its output lives until that is read. */
const MAX_LOOKS_AT_MEMORY = 100;
/** A child waits so long for one. */
const MAX_WAIT_MS = 2000;
/** What nobody misses: the kernel counts in portions, and what is left of namespaces for a moment. */
const LEFT_BYTES = 4 * MEGABYTE;
/** So many groups may be kept from use by memory that is left in them, for each child that can exist. */
const GROUPS_OF_A_CHILD = 2;

/**
 * Which child of a zygote is in which control group (slot). No slot is given to a child before it is empty: a zygote may say that a child is
 * gone which is not. One with memory that a child has left is set aside, as long as that is there: no run is charged for another's.
 */
export interface SlotBook {
  /**
   * Starts the measurement of an empty slot for a child; calls back when there is one, at once if it can. `onFull`: memory has kept all from use
   * for a while, and may do so as long as the zygote lives.
   */
  readonly take: (child: number, onReady: () => void, onFull: () => void) => void;
  /** Moves the process of a child into its slot. False: it has ended, or was moved before; it may not go on. */
  readonly enter: (child: number, process: KnownProcess) => Promise<boolean>;
  /** The group of a child; null: it has none, or it is gone. */
  readonly find: (child: number) => Group | null;
  /** Ends what is left of a child that is said to be gone, and forgets it; calls back, at once if it can, when nothing is left. */
  readonly bury: (child: number, onEmpty: () => void) => void;
}

interface Slot {
  readonly group: Group;
  /** While a process is `moving` into it, it is not empty, whatever it says. `entered`: one was moved, and no other will be. */
  stage: "free" | "taken" | "moving" | "entered";
}

/**
 * @param readGroups null until the process is started, and where there are no control groups
 * @param maxChildren that can exist at the same time
 */
export function createSlotBook(readGroups: () => ZygoteGroups | null, maxChildren: number): SlotBook {
  const taken = new Map<number, Slot>();
  const stock = createStock(GROUPS_OF_A_CHILD * maxChildren);

  function take(child: number, onReady: () => void, onFull: () => void, since = readMonotonic()): void {
    const groups = readGroups();
    if (groups === null) return onReady();
    if (!groups.isOpen()) return;
    const slot = stock.draw(groups);
    if (slot === null && readMonotonic() - since > MAX_WAIT_MS) return onFull();
    if (slot === null) return tryLater(() => take(child, onReady, onFull, since));
    slot.stage = "taken";
    taken.set(child, slot);
    onReady();
  }

  async function enter(child: number, process: KnownProcess): Promise<boolean> {
    const slot = taken.get(child);
    if (slot?.stage !== "taken") return readGroups() === null;
    slot.stage = "moving";
    try {
      await slot.group.enter(process);
      return taken.get(child) === slot;
    } catch {
      return false; // the process or the group has ended
    } finally {
      slot.stage = "entered";
    }
  }

  /** Kills what is left in a slot until it is empty, then waits a while for its memory. */
  function empty(slot: Slot, looksAtMemory: number, onEmpty: () => void): void {
    if (readGroups()?.isOpen() !== true) return onEmpty();
    const left = clear(slot);
    if (left === "nothing" || (left === "memory" && looksAtMemory === 0)) {
      stock.giveBack(slot, left);
      return onEmpty();
    }
    setTimeout(() => empty(slot, left === "memory" ? looksAtMemory - 1 : looksAtMemory, onEmpty), PAUSE_MS);
  }

  return {
    take: (child, onReady, onFull) => take(child, onReady, onFull),
    enter,
    find: (child) => (readGroups()?.isOpen() === true ? (taken.get(child)?.group ?? null) : null),
    bury: (child, onEmpty) => {
      const slot = taken.get(child);
      if (slot === undefined) return onEmpty();
      taken.delete(child);
      return empty(slot, MAX_LOOKS_AT_MEMORY, onEmpty);
    },
  };
}

/** What the system refuses here may be granted in the next turn, and is nobody's to catch. */
function tryLater(step: () => void): void {
  setTimeout(() => {
    try {
      step();
    } catch {
      tryLater(step);
    }
  }, PAUSE_MS);
}

/** Kills the processes that are left in a slot, and says what is: also where that cannot be seen, since no descriptor is free, say. */
function clear(slot: Slot): "processes" | "memory" | "nothing" {
  try {
    if (slot.stage !== "moving" && slot.group.isEmpty()) return holdsMemory(slot) ? "memory" : "nothing";
    slot.group.kill();
  } catch {
    // It is looked at again.
  }
  return "processes";
}

/** The slots that no child has. */
interface Stock {
  /** One without memory whose measurement has begun, made if need be; null: there are as many as there may be, and all hold memory or are taken. */
  readonly draw: (groups: ZygoteGroups) => Slot | null;
  /** No process is in it; while it holds memory, it is set aside. */
  readonly giveBack: (slot: Slot, left: "memory" | "nothing") => void;
}

function createStock(most: number): Stock {
  const free: Slot[] = [];
  const aside = new Set<Slot>();
  let created = 0;

  function reclaim(): Slot | null {
    for (const slot of aside)
      if (!holdsMemory(slot)) {
        aside.delete(slot);
        return slot;
      }
    return null;
  }

  function create(groups: ZygoteGroups): Slot | null {
    if (created >= most) return null;
    const group = groups.createSlot();
    created += 1;
    return { group, stage: "free" };
  }

  function giveBack(slot: Slot, left: "memory" | "nothing"): void {
    slot.stage = "free";
    if (left === "memory") aside.add(slot);
    else free.push(slot);
  }

  return {
    draw: (groups) => {
      const slot = free.pop() ?? reclaim() ?? create(groups);
      try {
        slot?.group.begin();
        return slot;
      } catch (error) {
        if (slot !== null) giveBack(slot, "nothing");
        throw error;
      }
    },
    giveBack,
  };
}

function holdsMemory({ group }: Slot): boolean {
  return group.readHeldMemory() >= LEFT_BYTES;
}
