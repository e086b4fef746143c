import type { Resources } from "@platform/contract/project";

/** Free vCPUs and GB of a worker. */
export interface FreeRoom {
  readonly read: () => Resources;
  readonly take: (resources: Resources) => void;
  readonly giveBack: (resources: Resources) => void;
}

/** Counts in thousandths, so that fractions add up exactly. */
export function createRoom(capacity: Resources): FreeRoom {
  const UNITS = 1_000;
  let cpu = Math.round(capacity.cpu * UNITS);
  let memory = Math.round(capacity.memory * UNITS);
  const add = (resources: Resources, sign: 1 | -1) => {
    cpu += sign * Math.round(resources.cpu * UNITS);
    memory += sign * Math.round(resources.memory * UNITS);
  };
  return {
    read: () => ({ cpu: cpu / UNITS, memory: memory / UNITS }),
    take: (resources) => add(resources, -1),
    giveBack: (resources) => add(resources, 1),
  };
}
