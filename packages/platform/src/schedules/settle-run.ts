import { Problem } from "@platform/contract/problems";
import type { ProblemCode } from "@platform/contract/problems";
import type { RunClaim, RunRefusal, ScheduleRunStore } from "../store/schedules/runs.ts";
import { LATEST_MS } from "./decide.ts";
import type { RunStarter } from "./start-run.ts";

/** For so long nobody else starts a run: longer than any start takes. Seconds. */
export const LEASE_SECONDS = 60;

/** Refusals that say nothing of the start: it is tried again when the lease is over. */
const LATER: ReadonlySet<ProblemCode> = new Set(["UNAVAILABLE", "INTERNAL_ERROR"]);
/** Refusals that pass by themselves; all others are given again and again. */
const PASSING: ReadonlySet<ProblemCode> = new Set(["RATE_LIMITED", "QUOTA_EXCEEDED"]);
const MAX_DETAIL = 1_000;

/** What a run is started and settled with. */
export interface RunDeps {
  readonly runs: Pick<ScheduleRunStore, "settleStarted" | "settleRefused">;
  readonly starter: Pick<RunStarter, "start" | "isStarted">;
}

/**
 * Starts a claimed run, and writes what became of it. A try before may have started it without writing that: then it is only written.
 *
 * @returns why it was refused; null: it was not
 * @throws Error when it is not known; it can be claimed again when its lease is over
 */
export async function startRun({ runs, starter }: RunDeps, claim: RunClaim): Promise<Problem | null> {
  if (claim.attempt > 1 && (await starter.isStarted(claim))) {
    await runs.settleStarted(claim);
    return null;
  }
  if (claim.lateMs > LATEST_MS) {
    await runs.settleRefused(claim, TOO_LATE);
    return new Problem("UNAVAILABLE", TOO_LATE.detail);
  }
  try {
    await starter.start(claim);
  } catch (error) {
    if (!(error instanceof Problem) || LATER.has(error.code)) throw error;
    await runs.settleRefused(claim, describeRefusal(error));
    return error;
  }
  await runs.settleStarted(claim);
  return null;
}

const TOO_LATE: RunRefusal = {
  status: "MISSED",
  code: null,
  detail: "The platform could not start it within an hour.",
  isPermanent: false,
};

function describeRefusal({ code, message }: Problem): RunRefusal {
  const isPermanent = !PASSING.has(code);
  return { status: "REFUSED", code, detail: message.slice(0, MAX_DETAIL), isPermanent };
}
