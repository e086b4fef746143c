import { GIGABYTE, MEGABYTE } from "../../base/bytes.ts";
import { fail } from "./answers.ts";
import { describeInputs } from "../port/describe-inputs.ts";
import { MEASURED, READ, addMetadata } from "../port/run-output.ts";
import type { Metadata, NotStarted, Outcome, PinnedInputs, RunnableVersion } from "../port/runtime.ts";

/** What the processes of one execution have used until its outcome was known, as the worker measured it. */
export interface Usage {
  readonly cpuSeconds: number;
  /** Null: not measured. */
  readonly peakMemoryBytes: number | null;
  /** Processes that were killed because the memory limit was exceeded. */
  readonly outOfMemoryKills: number;
  /** The kernel did not count: processes were looked at from time to time. */
  readonly isSampled?: true;
}

const MICRO = 1e6;

/**
 * The outcome with what is known of its resources. A kill for memory decides also over an answer: it was that of a run which had lost a part
 * of its processes. A kill that was ordered (CANCELLED, TIMEOUT) is not changed.
 *
 * @param usage null: not measured
 */
export function applyUsage(
  outcome: Outcome | NotStarted,
  usage: Usage | null,
  { memory }: Pick<RunnableVersion["resources"], "memory">,
): Outcome | NotStarted {
  if (usage === null || outcome.status === "NOT_STARTED" || outcome.status === "UNKNOWN") return outcome;
  const isOrdered =
    outcome.status === "FAILED" && (outcome.code === "CANCELLED" || outcome.code === "TIMEOUT");
  const excess = describeExcess(usage, { memory });
  const cpuSeconds = Math.round(usage.cpuSeconds * MICRO) / MICRO;
  const metadata = describeUsage({ ...usage, cpuSeconds });
  if (excess !== null && !isOrdered) return { ...fail("OUT_OF_MEMORY", excess), metadata, cpuSeconds };
  if (outcome.status === "FAILED") return { ...outcome, metadata, cpuSeconds };
  return { ...outcome, metadata: addMetadata(outcome.metadata, metadata), cpuSeconds };
}

/** The measured use of one execution. */
export interface Meter {
  /** @param read what it has used until now; null: it is not measured, or its processes are gone */
  readonly attach: (read: () => Usage | null) => void;
  /** Before its processes are asked to end, or killed, or when they are said to have ended: what can only be read of live ones is not lost. */
  readonly look: () => void;
  /** Keeps what it has used until now, at its outcome; the first that can be read counts. */
  readonly take: () => void;
  /** Says that a process was killed because the memory limit was exceeded; null: none was. */
  readonly findExcess: () => string | null;
  /** See `applyUsage`. */
  readonly apply: (outcome: Outcome | NotStarted) => Outcome | NotStarted;
}

/** Measures nothing until `attach`. */
export function createMeter(resources: RunnableVersion["resources"]): Meter {
  let read: (() => Usage | null) | null = null;
  let seen: Usage | null = null;
  let usage: Usage | null = null;
  return {
    attach: (given) => {
      read = given;
    },
    look: () => {
      seen = combine(seen, read?.() ?? null);
    },
    take: () => {
      usage ??= combine(seen, read?.() ?? null);
    },
    findExcess: () => describeExcess(read?.() ?? null, resources),
    apply: (outcome) => applyUsage(outcome, usage, resources),
  };
}

/** Says that a process was killed because the memory limit was exceeded; null: none was. */
function describeExcess(
  usage: Usage | null,
  { memory }: Pick<RunnableVersion["resources"], "memory">,
): string | null {
  if (usage === null || usage.outOfMemoryKills === 0) return null;
  const { peakMemoryBytes } = usage;
  const limit = `The memory limit of ${memory} GB (${Math.round((memory * GIGABYTE) / MEGABYTE)} MB) was exceeded`;
  if (peakMemoryBytes === null) return `${limit}.`;
  return `${limit}: the execution used ${Math.round(peakMemoryBytes / MEGABYTE)} MB at its peak.`;
}

function describeUsage({ cpuSeconds, peakMemoryBytes, isSampled: sampled }: Usage): Metadata {
  return { [MEASURED]: { cpuSeconds, peakMemoryBytes, ...(sampled ? { sampled } : {}) } };
}

/** The outcome with what was read by reference, whatever became of the files since. */
export function nameInputs(
  outcome: Outcome | NotStarted,
  pins: PinnedInputs | undefined,
): Outcome | NotStarted {
  if (pins === undefined || outcome.status === "NOT_STARTED" || outcome.status === "UNKNOWN") return outcome;
  const metadata = { [READ]: describeInputs(pins) };
  if (outcome.status === "FAILED") return { ...outcome, metadata: { ...outcome.metadata, ...metadata } };
  return { ...outcome, metadata: addMetadata(outcome.metadata, metadata) };
}

/** Both readings are of the same run: one of processes that have ended meanwhile may show less than the one before. */
function combine(before: Usage | null, now: Usage | null): Usage | null {
  if (before === null || now === null) return now ?? before;
  const peaks = [before.peakMemoryBytes, now.peakMemoryBytes].filter((peak) => peak !== null);
  return {
    ...now,
    cpuSeconds: Math.max(before.cpuSeconds, now.cpuSeconds),
    peakMemoryBytes: peaks.length === 0 ? null : Math.max(...peaks),
    outOfMemoryKills: Math.max(before.outOfMemoryKills, now.outOfMemoryKills),
  };
}
