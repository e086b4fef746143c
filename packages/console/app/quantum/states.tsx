import type { Backend } from "@platform/contract/quantum-api/backends";
import type { JobState } from "@platform/contract/quantum-api/jobs";
import type { SessionState } from "@platform/contract/quantum-api/sessions";
import {
  BACKEND_STATE_WORDS,
  JOB_STATE_WORDS,
  SESSION_STATE_WORDS,
} from "@platform/contract/quantum-api/states";

/** Colours are those of executions: what ended without a result is told apart by its word. */
const DOTS = {
  PENDING: "PENDING",
  RUNNING: "RUNNING",
  COMPLETED: "SUCCEEDED",
  FAILED: "FAILED",
  CANCELLED: "PENDING",
  ABORTED: "UNKNOWN",
  ONLINE: "SUCCEEDED",
  PAUSED: "UNKNOWN",
  OFFLINE: "PENDING",
  OPEN: "SUCCEEDED",
  ACTIVE: "RUNNING",
  INACTIVE: "SUCCEEDED",
  DRAINING: "UNKNOWN",
  CLOSED: "PENDING",
} as const satisfies Readonly<Record<JobState | SessionState | Backend["status"], string>>;

/** "PENDING" as "Pending". */
function toWord(state: string): string {
  return state.charAt(0) + state.slice(1).toLowerCase();
}

/** The states of a job in the order of its life, with their words. */
export const JOB_STATES: readonly { readonly value: JobState; readonly label: string }[] = (
  Object.keys(JOB_STATE_WORDS) as JobState[]
).map((value) => ({ value, label: toWord(value) }));

/** A state of a job: a dot and its word. */
export function JobStateBadge({ status }: { readonly status: JobState }) {
  const { isFinal, meaning } = JOB_STATE_WORDS[status];
  return <Dot state={status} meaning={meaning} isLive={!isFinal} />;
}

/** A state of a backend. */
export function BackendStateBadge({ status }: { readonly status: Backend["status"] }) {
  return <Dot state={status} meaning={BACKEND_STATE_WORDS[status]} isLive={false} />;
}

/** A state of a session; a list gives it as a text. */
export function SessionStateBadge({ status }: { readonly status: string }) {
  const state = SESSION_STATES.find((known) => known === status);
  return state === undefined ? (
    status
  ) : (
    <Dot state={state} meaning={SESSION_STATE_WORDS[state]} isLive={state === "ACTIVE"} />
  );
}

const SESSION_STATES = Object.keys(SESSION_STATE_WORDS) as SessionState[];

interface DotProps {
  readonly state: keyof typeof DOTS;
  readonly meaning: string;
  readonly isLive: boolean;
}

function Dot({ state, meaning, isLive }: DotProps) {
  return (
    <span className="state" title={`${state}: ${meaning}`}>
      <span className="state-dot" data-live={isLive || undefined} data-state={DOTS[state]} aria-hidden />
      <span>{toWord(state)}</span>
    </span>
  );
}
