import { fstatSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import type { Cgroups, Group } from "../sandbox/cgroups/cgroups.ts";
import { createZygoteGroups } from "./zygote-groups.ts";

/** What is refused, by the number of the group: as when there are too many groups, or descriptors. */
type Refusal = { readonly what: "group" | "limit" | "descriptor"; readonly number: number };

/** Groups that count what was created, opened and removed. */
function createCounted(refusal: Refusal) {
  const left = new Set<string>();
  const opened: number[] = [];
  const refuse = (what: Refusal["what"], number: number): void => {
    if (refusal.what === what && refusal.number === number) throw new Error("refused");
  };
  const create = (name: string): Group => {
    const number = left.size;
    refuse("group", number);
    left.add(name);
    return {
      openJoins: () => {
        refuse("descriptor", number);
        const descriptor = openSync("/dev/null", "w");
        opened.push(descriptor);
        return [descriptor];
      },
      limit: () => refuse("limit", number),
      begin: () => undefined,
      measure: () => ({ cpuSeconds: 0, peakMemoryBytes: null, outOfMemoryKills: 0 }),
      isEmpty: () => true,
      enter: async () => undefined,
      readHeldMemory: () => 0,
      kill: () => undefined,
      remove: async () => left.delete(name),
    };
  };
  const cgroups: Cgroups = { version: 2, create, expectEntry: () => undefined, close: async () => true };
  return { cgroups, left, opened };
}

const version = { resources: { cpu: 1, memory: 1 } };

test.each([
  { what: "group", number: 0 },
  { what: "limit", number: 0 },
  { what: "descriptor", number: 0 },
] as const)("no group and no descriptor is left when the $what $number is refused", (refusal) => {
  const { cgroups, left, opened } = createCounted(refusal);
  expect(() => createZygoteGroups(cgroups, version, { maxChildren: 5, first: 6 })).toThrow("refused");
  expect([[...left], opened]).toEqual([[], []]);
});

test.each(["group", "limit"] as const)("a slot whose %s is refused is not left", async (what) => {
  const { cgroups, left, opened } = createCounted({ what, number: 2 });
  const groups = createZygoteGroups(cgroups, version, { maxChildren: 5, first: 6 });
  groups.createSlot();
  expect(() => groups.createSlot()).toThrow("refused");
  groups.closeDescriptors();
  expect([left.size, groups.isOpen()]).toEqual([2, true]);
  await groups.remove();
  expect([left.size, groups.isOpen()]).toEqual([0, false]);
  for (const descriptor of opened) expect(() => fstatSync(descriptor)).toThrow("EBADF");
});

test("the entry of a zygote is expected before its groups are made, and that of a child when it is asked for", async () => {
  const { cgroups } = createCounted({ what: "group", number: 9 });
  const done: string[] = [];
  const told: Cgroups = {
    ...cgroups,
    create: (name) => (done.push("create"), cgroups.create(name)),
    expectEntry: () => void done.push("expect"),
  };
  const groups = createZygoteGroups(told, version, { maxChildren: 5, first: 6 });
  groups.expectChild();
  groups.closeDescriptors();
  await groups.remove();
  expect(done).toEqual(["expect", "create", "expect"]);
});

test("groups that others have removed are neither measured nor killed, and keep nothing from being released", () => {
  const { cgroups } = createCounted({ what: "group", number: -1 });
  const create: typeof cgroups.create = (name) => ({
    ...cgroups.create(name),
    measure: () => {
      throw new Error("ENODEV");
    },
    kill: () => {
      throw new Error("ENOENT");
    },
  });
  const groups = createZygoteGroups({ ...cgroups, create }, version, { maxChildren: 5, first: 6 });
  groups.closeDescriptors();
  groups.kill();
  expect(groups.hasExceeded()).toBe(false);
});
