import type { Backend } from "./backends.ts";
import type { JobState } from "./jobs.ts";

/** States of a quantum job: whether they are final, and what they mean. */
export const JOB_STATE_WORDS: Readonly<
  Record<JobState, { readonly isFinal: boolean; readonly meaning: string }>
> = {
  PENDING: { isFinal: false, meaning: "It waits for its backend." },
  RUNNING: { isFinal: false, meaning: "The backend runs it." },
  COMPLETED: { isFinal: true, meaning: "It has a result." },
  FAILED: { isFinal: true, meaning: "The backend has begun it, and it has no result." },
  CANCELLED: { isFinal: true, meaning: "It was asked to end." },
  ABORTED: { isFinal: true, meaning: "It never began." },
};

/** What the states of a backend mean. */
export const BACKEND_STATE_WORDS: Readonly<Record<Backend["status"], string>> = {
  ONLINE: "It runs jobs.",
  PAUSED: "Jobs wait: no worker runs them at present.",
  OFFLINE: "It takes no jobs.",
};
