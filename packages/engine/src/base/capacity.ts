import type { Resources } from "@platform/contract/project";

/** Both vCPUs and memory, in one place. */
export function fits(wanted: Resources, available: Resources): boolean {
  return wanted.cpu <= available.cpu && wanted.memory <= available.memory;
}

/** Those that no other one exceeds: of 16 vCPU with 4 GB and 2 vCPU with 64 GB, neither is the larger. */
export function findLargest(capacities: readonly Resources[]): readonly Resources[] {
  return capacities.filter(
    (one, index) =>
      !capacities.some((other, place) => fits(one, other) && (!fits(other, one) || place < index)),
  );
}

/** `2 vCPU and 4 GB`. */
export function formatResources({ cpu, memory }: Resources): string {
  return `${cpu} vCPU and ${memory} GB`;
}
