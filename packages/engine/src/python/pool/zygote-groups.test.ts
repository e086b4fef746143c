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
      readSharedMemory: () => 0,
      readAnonymousMemory: () => 0,
      kill: () => undefined,
      remove: async () => left.delete(name),
    };
  };
  const cgroups: Cgroups = { version: 2, create, close: async () => true };
  return { cgroups, left, opened };
}

test.each([
  { what: "group", number: 0 },
  { what: "group", number: 3 },
  { what: "limit", number: 3 },
  { what: "descriptor", number: 3 },
] as const)("no group and no descriptor is left when the $what $number is refused", (refusal) => {
  const { cgroups, left, opened } = createCounted(refusal);
  const version = { resources: { cpu: 1, memory: 1 } };
  expect(() => createZygoteGroups(cgroups, version, { slotCount: 5, first: 6 })).toThrow("refused");
  expect([...left]).toEqual([]);
  for (const descriptor of opened) expect(() => fstatSync(descriptor)).toThrow("EBADF");
});
