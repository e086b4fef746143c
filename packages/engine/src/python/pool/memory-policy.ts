import type { Settings } from "../port/settings.ts";

/** A zygote as the memory policy sees it. */
export interface WarmZygote {
  readonly id: string;
  /** Of all its processes, as measured last; null: not measured yet. */
  readonly totalBytes: number | null;
  /** What ending its idle children would free. */
  readonly idleBytes: number;
  /** Monotonic milliseconds. */
  readonly lastUsed: number;
  /** `busy`: an execution waits for a child or has processes. */
  readonly use: "idle" | "busy";
}

/** What the policy decides. */
export interface MemoryPlan {
  /** What has to go: the idle children of a zygote, or the zygote itself. */
  readonly cuts: ReadonlyArray<{ readonly id: string; readonly what: "children" | "zygote" }>;
  /** `tight`: no more children are made ahead than the least. */
  readonly memory: "ample" | "tight";
}

/** Assumed of a zygote that is not measured yet: a Python without heavy imports, with its launcher. */
const UNMEASURED_BYTES = 16 * 1024 * 1024;
/** Beyond this part of the budget no children are made ahead that would be the first to go. */
const TIGHT = 0.9;

/**
 * Decides what goes when the zygotes of a worker take more than their budget, or are too many: idle children first, which
 * take milliseconds to make again, then zygotes, which take an import; in both steps the least recently used first.
 *
 * What is busy stays. So does the zygote that was used last: a version that exceeds the budget alone would otherwise be
 * booted for each execution.
 */
export function planMemory(
  zygotes: readonly WarmZygote[],
  { zygoteMemoryBytes, maxZygotes }: Pick<Settings, "zygoteMemoryBytes" | "maxZygotes">,
): MemoryPlan {
  const oldestFirst = [...zygotes].sort((left, right) => left.lastUsed - right.lastUsed);
  const idle = oldestFirst.filter(({ use }) => use === "idle");
  const newest = oldestFirst.at(-1);
  let bytes = zygotes.reduce((sum, zygote) => sum + countBytes(zygote), 0);
  let count = zygotes.length;
  const memory = bytes > zygoteMemoryBytes * TIGHT ? "tight" : "ample";
  const trimmed = new Set<string>();
  for (const { id, idleBytes } of idle) {
    if (bytes <= zygoteMemoryBytes) break;
    if (idleBytes === 0) continue;
    trimmed.add(id);
    bytes -= idleBytes;
  }
  const ended = new Set<string>();
  for (const zygote of idle) {
    if (bytes <= zygoteMemoryBytes && count <= maxZygotes) break;
    if (zygote === newest) continue;
    ended.add(zygote.id);
    bytes -= countBytes(zygote) - (trimmed.has(zygote.id) ? zygote.idleBytes : 0);
    count -= 1;
  }
  const children = [...trimmed].filter((id) => !ended.has(id));
  return {
    cuts: [
      ...children.map((id) => ({ id, what: "children" }) as const),
      ...[...ended].map((id) => ({ id, what: "zygote" }) as const),
    ],
    memory,
  };
}

function countBytes({ totalBytes }: WarmZygote): number {
  return totalBytes ?? UNMEASURED_BYTES;
}
