import { formatTimestamp } from "@platform/contract/execution";
import type { ExecutionStatus } from "@platform/contract/execution";
import type { ExecutionExplanation } from "@platform/contract/platform-api/execution-overview";
import type { Resources } from "@platform/contract/project";
import { fits, formatResources } from "@platform/engine/base/capacity";
import { SECOND } from "@platform/engine/base/time";
import { MOST_AHEAD } from "../store/history/explain.ts";
import type { QueuePlace } from "../store/history/explain.ts";

/** What is known of an execution. */
export interface Waiting {
  readonly status: ExecutionStatus;
  readonly needs: Resources;
  readonly isPreparing: boolean;
  /** Null: it does not wait. */
  readonly place: QueuePlace | null;
}

/** Why it does not run, in one word and in words. */
export function explainWaiting({ status, needs, isPreparing, place }: Waiting): ExecutionExplanation {
  if (status === "RUNNING" && isPreparing)
    return {
      reason: "PREPARING",
      needs,
      text: "A worker has claimed it and prepares it; its code has not begun.",
    };
  if (status === "RUNNING")
    return { reason: "CLAIMED", needs, text: "A worker has claimed it; its code may have begun." };
  if (place === null)
    return { reason: "NOT_WAITING", needs, text: "It does not wait: it has started or ended." };
  return addDeadline(explainPlace(needs, place), place.startBy);
}

function addDeadline(explained: ExecutionExplanation, deadline: number | null): ExecutionExplanation {
  if (deadline === null) return explained;
  const startBy = formatTimestamp(deadline);
  return {
    ...explained,
    startBy,
    text: `${explained.text} If it has not begun by ${startBy} UTC, it ends.`,
  };
}

function explainPlace(needs: Resources, place: QueuePlace): ExecutionExplanation {
  const { ahead, workers, typicalWaitMs, isPaused, isLimited, startAt } = place;
  if (startAt !== null)
    return { needs, reason: "DELAYED", text: `It is not to start before ${formatTimestamp(startAt)} UTC.` };
  if (isLimited) return { needs, reason: "LIMITED", text: LIMITED };
  const largest = findLargest(workers.map(({ free }) => free));
  const known = {
    needs,
    ahead,
    ...(largest === null ? {} : { largestFree: largest }),
    ...(typicalWaitMs === null ? {} : { typicalWaitMs: Math.max(0, Math.round(typicalWaitMs)) }),
  };
  const say = (reason: ExecutionExplanation["reason"], ...sentences: readonly string[]) => ({
    ...known,
    reason,
    text: [...sentences, ...describeTypical(known.typicalWaitMs)].join(" "),
  });
  if (largest === null) return say("NO_WORKER", "No worker is running.");
  if (!workers.some(({ capacity }) => fits(needs, capacity)))
    return say("NO_WORKER", `It needs ${formatResources(needs)}; no running worker is that large.`);
  if (isPaused) return say("DELAYED", describeDelay(place));
  const hasRoom = workers.some(({ free }) => fits(needs, free));
  const room = hasRoom
    ? []
    : [`It needs ${formatResources(needs)}; the largest free worker has ${formatResources(largest)}.`];
  if (ahead > 0) return say("BEHIND_OTHERS", describeAhead(ahead), ...room);
  if (!hasRoom) return say("NO_CAPACITY", "It is the next one.", ...room);
  return say("NEXT", "It is the next one, and a worker has room for it.");
}

const LIMITED =
  "As many executions of the service, or of its subscription, run at one time as the policy of the service allows. It enters the queue when one of them has ended.";

/** By vCPUs, then by memory. */
function findLargest(free: readonly Resources[]): Resources | null {
  return free.toSorted((a, b) => b.cpu - a.cpu || b.memory - a.memory)[0] ?? null;
}

function describeAhead(ahead: number): string {
  if (ahead === 1) return "1 execution is before it.";
  return `${ahead >= MOST_AHEAD ? `${MOST_AHEAD} or more` : ahead} executions are before it.`;
}

function describeDelay({ setbacks, retried }: Pick<QueuePlace, "setbacks" | "retried">): string {
  if (setbacks === 0 && retried > 0)
    return `Attempt ${retried} failed; the next one begins after a pause, as its service has chosen.`;
  if (setbacks === 0) return "It is not to start yet.";
  return `A worker could not start it (tries so far: ${setbacks}); it is tried again after a pause.`;
}

function describeTypical(waitMs: number | undefined): readonly string[] {
  if (waitMs === undefined) return [];
  const seconds = waitMs / SECOND;
  return [`Such executions typically wait ${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s.`];
}
