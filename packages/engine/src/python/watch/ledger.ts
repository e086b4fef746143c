/** What one run was seen to use, and what follows from it. Pure: `watcher.ts` takes the samples and acts. */

/** The limits of one run. */
export interface SampledLimits {
  readonly memoryBytes: number;
  /** Processors: 0.5 is half of one. Infinity: they are not limited. */
  readonly cpus: number;
}

/** All processes of one run, at one moment. */
interface Sample {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** Smaller than before when a process has ended that nobody waited for. */
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

/** What is known after the last sample. */
export interface Ledger {
  readonly at: number;
  /** Used in total; what the last sample said is `seenSeconds`. */
  readonly cpuSeconds: number;
  readonly seenSeconds: number;
  readonly peakBytes: number;
  /** CPU seconds that it may use at once; negative: it has used so much more than its share. */
  readonly credit: number;
  /** Milliseconds until the next sample. */
  readonly nextMs: number;
}

/** A new run may fill the memory, or take all processors, before it is seen for the first time. */
const FIRST_MS = 20;
const NEAR_MS = 100;
const FAR_MS = 1000;
/** While a run is held back: it is let go, and stopped again, this much later. */
const HELD_BACK_MS = 25;
/** Time that a run may be below its share and use more later. */
const BURST_SECONDS = 0.1;
/** How fast a run fills memory at most, nearly (one thread, 2026). */
const FILL_BYTES_PER_MS = 1_000_000;
/** From this part of its share on, it may soon be above. */
const NEAR_SHARE = 0.8;

/** Looking takes this part of the time at most, unless it takes longer than a 20th of a second. */
const MAX_LOAD = 1 / 20;
/** A look may have taken long because the machine is busy: the next one is not put off for longer. */
const MAX_REST_MS = 1000;

/** @param cpuSeconds what its processes have used before it began */
export function openLedger(at: number, cpuSeconds: number): Ledger {
  return { at, cpuSeconds, seenSeconds: cpuSeconds, peakBytes: 0, credit: 0, nextMs: FIRST_MS };
}

/** Enters a sample. */
export function enterSample(ledger: Ledger, sample: Sample, limits: SampledLimits): Ledger {
  const seconds = Math.max(0, sample.at - ledger.at) / 1000;
  const used = Math.max(0, sample.cpuSeconds - ledger.seenSeconds);
  const share = limits.cpus === Infinity ? Infinity : seconds * limits.cpus;
  const credit = Math.min(BURST_SECONDS * limits.cpus, ledger.credit + share - used);
  const room = (limits.memoryBytes - sample.memoryBytes) / FILL_BYTES_PER_MS;
  return {
    at: sample.at,
    cpuSeconds: ledger.cpuSeconds + used,
    seenSeconds: sample.cpuSeconds,
    peakBytes: Math.max(ledger.peakBytes, sample.memoryBytes),
    credit,
    nextMs: Math.min(
      clamp(room),
      planForProcessors(ledger, { credit, cpus: limits.cpus, load: used / share }),
    ),
  };
}

/** Whether the run has used more than its share of the processors. */
export function isAhead({ credit }: Ledger): boolean {
  return credit < 0;
}

/**
 * Milliseconds from the end of a look, which took so long, to the next one. Not longer than planned for a run that is stopped: where looks take long,
 * it would get less than its share. It is continued after one look or two, and the next pause is as long as usual.
 */
export function planLook(
  { nextMs }: Pick<Ledger, "nextMs">,
  { lookedMs, isStopped }: { readonly lookedMs: number; readonly isStopped: boolean },
): number {
  return isStopped ? nextMs : Math.max(nextMs, Math.min(MAX_REST_MS, lookedMs / MAX_LOAD));
}

/** @param load what it has used since the last sample, as a part of its share */
function planForProcessors(
  before: Ledger,
  { credit, cpus, load }: { readonly credit: number; readonly cpus: number; readonly load: number },
): number {
  if (credit < 0) return Math.min(FAR_MS, Math.max(1, (-credit / cpus) * 1000));
  if (before.credit < 0) return HELD_BACK_MS;
  if (load < NEAR_SHARE) return FAR_MS;
  return before.nextMs === HELD_BACK_MS ? HELD_BACK_MS : NEAR_MS;
}

function clamp(milliseconds: number): number {
  return Math.min(FAR_MS, Math.max(NEAR_MS, milliseconds));
}
