import type { Resources } from "@platform/contract/project";

/** Whether both the vCPUs and the memory that are wanted are available. */
export function fits(wanted: Resources, available: Resources): boolean {
  return wanted.cpu <= available.cpu && wanted.memory <= available.memory;
}

/** The capacities that no other one exceeds in both dimensions. 16 vCPU with 4 GB and 2 vCPU with 64 GB are both in the result. */
export function findLargest(capacities: readonly Resources[]): readonly Resources[] {
  return capacities.filter(
    (one, index) =>
      !capacities.some((other, place) => fits(one, other) && (!fits(other, one) || place < index)),
  );
}

/** For messages: `2 vCPU and 4 GB`. */
export function formatResources({ cpu, memory }: Resources): string {
  return `${cpu} vCPU and ${memory} GB`;
}
