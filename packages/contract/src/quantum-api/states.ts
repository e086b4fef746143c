import type { Backend } from "./backends.ts";
import type { JobState } from "./jobs.ts";
import type { SessionState } from "./sessions.ts";

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

/** What the states of a session mean. */
export const SESSION_STATE_WORDS: Readonly<Record<SessionState, string>> = {
  OPEN: "It takes jobs, and has had none.",
  ACTIVE: "A job of it waits or runs.",
  INACTIVE: "It takes jobs; none waits or runs.",
  DRAINING: "It takes no more jobs; those that it has go on.",
  CLOSED: "It was closed, or its time is over.",
};

/** What the states of a backend mean. */
export const BACKEND_STATE_WORDS: Readonly<Record<Backend["status"], string>> = {
  ONLINE: "It runs jobs.",
  PAUSED: "Jobs wait: no worker runs them at present.",
  OFFLINE: "It takes no jobs.",
};
