import { expect, test } from "vitest";
import { MEGABYTE } from "../../base/bytes.ts";
import { createDeferred } from "../../base/deferred.ts";
import type { Group } from "../sandbox/cgroups/cgroups.ts";
import { createSlotBook } from "./slot-book.ts";
import type { SlotBook } from "./slot-book.ts";
import type { ZygoteGroups } from "./zygote-groups.ts";

/** Groups whose processes and memory are what the test says, by the order of their creation; what was done to them is listed. */
function createWorld(maxChildren = 3) {
  const done: string[] = [];
  const processes: number[] = [];
  const memory: number[] = [];
  const refusals: "next"[] = [];
  const move = createDeferred<undefined>();
  let groups: "open" | "removed" = "open";
  let created = 0;

  function refuseRemoved<T>(value: T): T {
    if (groups === "removed") throw new Error("the group was removed");
    return value;
  }

  function refuseOnce(): void {
    if (refusals.pop() !== undefined) throw new Error("EMFILE: too many open files");
  }

  function createSlot(): Group {
    const slot = (created += 1) - 1;
    return {
      openJoins: () => [],
      limit: () => undefined,
      begin: () => {
        refuseOnce();
        done.push(`begin ${slot}`);
      },
      measure: () => ({ cpuSeconds: slot, peakMemoryBytes: null, outOfMemoryKills: 0 }),
      enter: async ({ pid }) => {
        done.push(`${pid} into ${slot}`);
        await move.promise;
        refuseRemoved(undefined);
      },
      isEmpty: () => {
        refuseOnce();
        return refuseRemoved((processes[slot] ?? 0) === 0);
      },
      readHeldMemory: () => refuseRemoved(memory[slot] ?? 0),
      kill: () => void done.push(`kill ${slot}`),
      remove: async () => true,
    };
  }

  const all: ZygoteGroups = {
    descriptors: [],
    closeDescriptors: () => undefined,
    join: (command) => command,
    expectChild: () => undefined,
    createSlot,
    isOpen: () => groups === "open",
    hasExceeded: () => false,
    kill: () => undefined,
    remove: async () => {
      groups = "removed";
      return true;
    },
  };
  const book = createSlotBook(() => all, maxChildren);
  return { book, done, processes, memory, refusals, move, groups: all };
}

/** The number of the group that a child is in. */
function place(book: SlotBook, child: number): number | undefined {
  return book.find(child)?.measure().cpuSeconds;
}

const nothing = (): undefined => undefined;

test("a slot is given to another child only once it is empty", async () => {
  const { book, done, processes } = createWorld();
  book.take(1, () => done.push("1 is there"), nothing);
  expect(done).toEqual(["begin 0", "1 is there"]);
  processes[0] = 1;
  book.bury(1, () => done.push("1 is gone"));
  book.take(2, nothing, nothing);
  expect([place(book, 1), place(book, 2), done.slice(2)]).toEqual([undefined, 1, ["kill 0", "begin 1"]]);
  processes[0] = 0;
  await expect.poll(() => done).toContain("1 is gone");
  book.take(3, nothing, nothing);
  expect(place(book, 3)).toBe(0);
});

test("a slot with memory that a child has left is used again when that is free, never before; the child is gone after a second", async () => {
  const { book, done, memory } = createWorld();
  book.take(1, nothing, nothing);
  memory[0] = 100 * MEGABYTE;
  book.bury(1, () => done.push("1 is gone"));
  expect(done).toEqual(["begin 0"]);
  await expect.poll(() => done).toContain("1 is gone");
  book.take(2, nothing, nothing);
  memory[0] = 0;
  book.take(3, nothing, nothing);
  expect([place(book, 2), place(book, 3)]).toEqual([1, 0]);
});

test("what the system refuses for a moment is tried again; a slot whose measurement is refused is not lost", async () => {
  const { book, done, processes, refusals } = createWorld(1);
  refusals.push("next");
  expect(() => book.take(1, nothing, nothing)).toThrow(/EMFILE/u);
  for (const child of [1, 2]) book.take(child, nothing, nothing);
  processes.push(1, 1);
  book.take(3, () => done.push("3 is there"), nothing);
  processes[0] = 0;
  refusals.push("next", "next");
  book.bury(1, () => done.push("1 is gone"));
  await expect.poll(() => done.slice(2)).toEqual(["1 is gone", "begin 0", "3 is there"]);
});

test("memory that children leave keeps as many groups from use as children can exist; who comes then waits", async () => {
  const { book, done, memory } = createWorld(1);
  for (const child of [1, 2]) {
    book.take(child, nothing, nothing);
    memory[child - 1] = 100 * MEGABYTE;
    book.bury(child, () => done.push(`${child} is gone`));
    await expect.poll(() => done).toContain(`${child} is gone`);
  }
  book.take(3, () => done.push("3 is there"), nothing);
  expect(done).not.toContain("3 is there");
  memory[1] = 0;
  await expect.poll(() => done).toContain("3 is there");
  expect(place(book, 3)).toBe(1);
});

test("a child that finds none free for two seconds is not made", async () => {
  const { book, done, memory } = createWorld(1);
  for (const child of [1, 2]) {
    book.take(child, nothing, nothing);
    memory[child - 1] = 100 * MEGABYTE;
    book.bury(child, () => done.push(`${child} is gone`));
    await expect.poll(() => done).toContain(`${child} is gone`);
  }
  book.take(
    3,
    () => done.push("3 is there"),
    () => done.push("full"),
  );
  await expect.poll(() => done).toContain("full");
  memory[1] = 0;
  book.take(4, () => done.push("4 is there"), nothing);
  expect([place(book, 3), place(book, 4), done.includes("3 is there")]).toEqual([undefined, 1, false]);
});

test("one process is moved for each child, whatever its zygote says, and none for a child that is gone", async () => {
  const { book, done, move } = createWorld();
  book.take(1, nothing, nothing);
  const first = book.enter(1, { pid: 4711, start: "1" });
  move.resolve(undefined);
  expect([
    await first,
    await book.enter(1, { pid: 4712, start: "1" }),
    await book.enter(2, { pid: 4713, start: "1" }),
  ]).toEqual([true, false, false]);
  expect(done).toEqual(["begin 0", "4711 into 0"]);
});

test("a slot into which a process is being moved is not empty, whatever it says: the next child would have it beside itself", async () => {
  const { book, done, move } = createWorld();
  book.take(1, nothing, nothing);
  const moved = book.enter(1, { pid: 4711, start: "1" });
  book.bury(1, () => done.push("1 is gone"));
  book.take(2, nothing, nothing);
  expect([place(book, 2), done.includes("1 is gone")]).toEqual([1, false]);
  move.resolve(undefined);
  expect(await moved).toBe(false);
  await expect.poll(() => done).toContain("1 is gone");
});

test("a process that cannot be moved may not go on", async () => {
  const { book, move, groups } = createWorld();
  book.take(1, nothing, nothing);
  const moved = book.enter(1, { pid: 4711, start: "1" });
  await groups.remove();
  move.resolve(undefined);
  expect(await moved).toBe(false);
});

test("once the groups are being removed, children are gone and none is made", async () => {
  const { book, done, processes, groups } = createWorld();
  book.take(1, nothing, nothing);
  processes[0] = 1;
  book.bury(1, () => done.push("1 is gone"));
  await groups.remove();
  book.take(2, () => done.push("2 is there"), nothing);
  await expect.poll(() => done).toContain("1 is gone");
  expect([book.find(2), done.includes("2 is there")]).toEqual([null, false]);
});

test("without groups there is nothing to wait for", async () => {
  const done: string[] = [];
  const book = createSlotBook(() => null, 0);
  book.take(1, () => done.push("there"), nothing);
  book.bury(1, () => done.push("gone"));
  expect([done, await book.enter(1, { pid: 4711, start: "1" }), book.find(1)]).toEqual([
    ["there", "gone"],
    true,
    null,
  ]);
});
