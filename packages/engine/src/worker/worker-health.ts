import { growPause } from "../base/backoff.ts";
import { SECOND, MINUTE } from "../base/time.ts";
import type { Logger } from "../base/logger.ts";
import { readMonotonic } from "../base/monotonic.ts";

/*
 * Which versions this worker is able to start.
 *
 * A version that could not be started here is not claimed for a while, longer each time. When several different versions fail in a row, with
 * nothing started in between, the cause is the worker itself: it pauses and claims nothing; after the pause it claims one at a time, until
 * an execution starts (the worker has recovered) or fails as well (a longer pause).
 */

const EXCLUSION = { firstMs: 5 * SECOND, ceilingMs: 5 * MINUTE };
const REST = { firstMs: 5 * SECOND, ceilingMs: 1 * MINUTE };
/** Number of different versions in a row. */
const MAX_FAILING_VERSIONS = 3;

/** What is known of a worker's ability to start executions. Times are on the monotonic clock, in milliseconds. */
export interface WorkerHealth {
  /** By version id. Entries outlast their exclusion by five minutes or more, so that the next one is longer. */
  readonly excluded: ReadonlyMap<string, Exclusion>;
  readonly state: HealthState;
}

interface Exclusion {
  readonly until: number;
  readonly faults: number;
}

type HealthState =
  | { readonly name: "sound"; readonly failing: ReadonlySet<string> }
  | { readonly name: "resting"; readonly until: number; readonly rests: number };

/** `at` in milliseconds on the monotonic clock. */
export type HealthEvent =
  | {
      readonly type: "failed";
      readonly versionId: string;
      /** `version`: code of the version may be the cause, or a store that it needs, so it implies nothing about the worker. */
      readonly scope: "worker" | "version";
      readonly at: number;
    }
  | { readonly type: "started"; readonly versionId: string };

/** The health of a worker that has just begun: nothing is excluded. */
export const SOUND: WorkerHealth = {
  excluded: new Map(),
  state: { name: "sound", failing: new Set() },
};

/** The health after a start or a failure to start. Pure: the event brings the time. */
export function reduceHealth(health: WorkerHealth, event: HealthEvent): WorkerHealth {
  if (event.type === "started") {
    const excluded = new Map(health.excluded);
    excluded.delete(event.versionId);
    return { excluded, state: SOUND.state };
  }
  const { versionId, scope, at } = event;
  const excluded = new Map([...health.excluded].filter(([, { until }]) => until + EXCLUSION.ceilingMs > at));
  const before = excluded.get(versionId);
  // Several executions of a version that were claimed together fail together, which counts as one fault.
  if (before === undefined || before.until <= at) {
    const faults = before?.faults ?? 0;
    excluded.set(versionId, { until: at + growPause(EXCLUSION, faults), faults: faults + 1 });
  }
  return { excluded, state: scope === "worker" ? failWorker(health.state, versionId, at) : health.state };
}

function failWorker(state: HealthState, versionId: string, at: number): HealthState {
  if (state.name === "resting") {
    if (at < state.until) return state;
    return { name: "resting", until: at + growPause(REST, state.rests), rests: state.rests + 1 };
  }
  const failing = new Set(state.failing).add(versionId);
  if (failing.size < MAX_FAILING_VERSIONS) return { name: "sound", failing };
  return { name: "resting", until: at + growPause(REST, 0), rests: 1 };
}

/** What may be claimed now. @param starting number of executions that were claimed and have neither begun nor failed */
export function readPermit(
  { excluded, state }: WorkerHealth,
  limit: number,
  starting: number,
  at: number,
): { readonly limit: number; readonly excludedVersionIds: readonly string[] } {
  const excludedVersionIds = [...excluded].filter(([, { until }]) => until > at).map(([id]) => id);
  if (state.name === "sound") return { limit, excludedVersionIds };
  return { limit: at >= state.until && starting === 0 ? Math.min(1, limit) : 0, excludedVersionIds };
}

/** A failure to start an execution, as `run-claim.ts` reports it. */
interface StartFault {
  readonly versionId: string;
  readonly executionId: string;
  /** As in the event `failed`. */
  readonly scope: "worker" | "version";
  readonly cause: unknown;
}

/** The health of one worker. Changes are logged once each, not for each execution. */
export interface HealthKeeper {
  readonly noteFault: (fault: StartFault) => void;
  readonly noteStarted: (versionId: string) => void;
  readonly readPermit: (limit: number, starting: number) => ReturnType<typeof readPermit>;
  /** Why this worker starts nothing at present; null when it does. */
  readonly explainRest: () => string | null;
}

/** Sound at first. */
export function createHealthKeeper(logger: Logger): HealthKeeper {
  let health = SOUND;
  return {
    noteFault: ({ versionId, executionId, scope, cause }) => {
      const before = health;
      health = reduceHealth(before, { type: "failed", versionId, scope, at: readMonotonic() });
      if (!before.excluded.has(versionId))
        logger.error(
          { err: cause, versionId, executionId },
          "this worker could not start a version; it is not claimed for a while, and the execution goes back",
        );
      if (health.state.name === "resting" && before.state.name === "sound")
        logger.error(
          { versions: MAX_FAILING_VERSIONS },
          "this worker could not start several versions in a row; it rests, then tries one at a time",
        );
    },
    noteStarted: (versionId) => {
      const isNews = health.state.name === "resting" || health.excluded.has(versionId);
      health = reduceHealth(health, { type: "started", versionId });
      if (isNews) logger.info({ versionId }, "this worker starts what it could not start before");
    },
    readPermit: (limit, starting) => readPermit(health, limit, starting, readMonotonic()),
    explainRest: () =>
      health.state.name === "resting"
        ? `The worker could not start ${MAX_FAILING_VERSIONS} different versions in a row; its log says why.`
        : null,
  };
}
