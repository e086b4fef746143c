import { expect, test, vi } from "vitest";
import { MEGABYTE } from "../../base/bytes.ts";
import type { Group } from "../sandbox/cgroups/cgroups.ts";
import { createSlotBook } from "./slot-book.ts";
import type { ZygoteGroups } from "./zygote-groups.ts";

const JOINS = [[9], [10]];

/** Groups whose processes and shared memory are what the test says; what was done to them is listed. */
function createGroups(
  processes: number[],
  memory: number[] = [],
): { readonly groups: ZygoteGroups; readonly done: string[] } {
  const done: string[] = [];
  const all = processes.map((_, slot): Group => ({
    openJoins: () => [],
    limit: () => undefined,
    begin: () => void done.push(`begin ${slot}`),
    measure: () => ({ cpuSeconds: slot, peakMemoryBytes: null, outOfMemoryKills: 0 }),
    isEmpty: () => processes[slot] === 0,
    readSharedMemory: () => memory[slot] ?? 0,
    readAnonymousMemory: () => memory[slot] ?? 0,
    kill: () => void done.push(`kill ${slot}`),
    remove: async () => true,
  }));
  const groups = {
    descriptors: [],
    closeDescriptors: () => undefined,
    join: (command) => command,
    joins: JOINS,
    find: (slot) => all[slot] ?? null,
    hasExceeded: () => false,
    kill: () => undefined,
    remove: async () => undefined,
  } satisfies ZygoteGroups;
  return { groups, done };
}

test("a slot is given to the next child only once it is empty", async () => {
  const processes = [0, 1];
  const { groups, done } = createGroups(processes);
  const book = createSlotBook(() => groups);
  book.take(1, 0, (joins) => done.push(`1 joins ${joins.join()}`));
  book.take(2, 1, (joins) => done.push(`2 joins ${joins.join()}`));
  expect(done).toEqual(["begin 0", "1 joins 9", "kill 1"]);
  expect(book.find(2)).toBeNull();
  processes[1] = 0;
  await vi.waitFor(() => expect(done).toContain("2 joins 10"));
  expect(done.slice(-2)).toEqual(["begin 1", "2 joins 10"]);
  expect(book.find(2)?.measure().cpuSeconds).toBe(1);
});

test("a child that is said to be gone is gone when nothing is left of it; who takes its slot comes after", async () => {
  const processes = [0];
  const { groups, done } = createGroups(processes);
  const book = createSlotBook(() => groups);
  book.take(1, 0, () => undefined);
  processes[0] = 1;
  book.bury(1, () => done.push("1 is gone"));
  book.take(2, 0, () => done.push("2 joins"));
  expect(done).toEqual(["begin 0", "kill 0"]);
  processes[0] = 0;
  await vi.waitFor(() => expect(done).toContain("2 joins"));
  expect(done.filter((what) => what !== "kill 0")).toEqual(["begin 0", "1 is gone", "begin 0", "2 joins"]);
});

test("a slot with memory that a child has left is given to the next one when that is free, or after a second", async () => {
  const memory = [100 * MEGABYTE, 100 * MEGABYTE];
  const { groups, done } = createGroups([0, 0], memory);
  const book = createSlotBook(() => groups);
  book.take(1, 0, () => done.push("1 joins"));
  book.take(2, 1, () => done.push("2 joins"));
  expect(done).toEqual([]);
  memory[0] = 0;
  await vi.waitFor(() => expect(done).toContain("1 joins"));
  expect(done).toEqual(["begin 0", "1 joins"]);
  await vi.waitFor(() => expect(done).toContain("2 joins"), { timeout: 5000 });
});

test("memory in a slot that no child has is that of an intruder, if it stays", () => {
  const memory = [0, 0];
  const book = createSlotBook(() => createGroups([0, 0], memory).groups);
  book.take(1, 0, () => undefined);
  memory[0] = 100 * MEGABYTE;
  const look = (times: number) => Array.from({ length: times }, book.findIntruder).includes(true);
  expect(look(10)).toBe(false);
  memory[1] = 100 * MEGABYTE;
  expect(look(3)).toBe(false);
  memory[1] = 0;
  expect(look(3)).toBe(false);
  memory[1] = 100 * MEGABYTE;
  expect(look(5)).toBe(true);
});

test("the group of a slot belongs to the child that took it last", () => {
  const { groups } = createGroups([0]);
  const book = createSlotBook(() => groups);
  book.take(1, 0, () => undefined);
  book.take(2, 0, () => undefined);
  expect([book.find(1), book.find(2)?.isEmpty()]).toEqual([null, true]);
});

test("without groups there is nothing to wait for", () => {
  const done: string[] = [];
  createSlotBook(() => null).bury(1, () => done.push("gone"));
  expect(done).toEqual(["gone"]);
});
