import { Time } from "../ui/time.tsx";
import { formatDuration } from "../util/times.ts";
import type { Execution } from "./advice.ts";
import { StateBadge } from "./state-badge.tsx";
import "./timeline.css";

/** From its creation to its end: when, and how long between. */
export function Timeline({ execution }: { readonly execution: Execution }) {
  const { createdAt, startedAt, endedAt, waitedMs, ranMs, terminal, status } = execution;
  const whole = Math.max(1, waitedMs + (ranMs ?? 0));
  return (
    <section aria-label="Timeline" className="timeline">
      <div className="timeline-bar" aria-hidden>
        <span className="timeline-waited" style={{ flexGrow: waitedMs / whole }} />
        {ranMs !== undefined && (
          <span className="timeline-ran" data-state={status} style={{ flexGrow: ranMs / whole }} />
        )}
      </div>
      <ol>
        <li>
          <span className="timeline-name">Accepted</span> <Time at={createdAt} as="exact" />
        </li>
        <li>
          <span className="timeline-name">
            {startedAt === undefined && !terminal ? "Waiting for" : "Waited"}
          </span>{" "}
          {formatDuration(waitedMs)}
        </li>
        <li>
          <span className="timeline-name">
            {startedAt !== undefined && !terminal ? "Running for" : "Ran"}
          </span>{" "}
          {ranMs === undefined ? (terminal ? "not at all" : "not yet") : formatDuration(ranMs)}
        </li>
        <li>
          <span className="timeline-name">Ended</span> <Time at={endedAt} as="exact" none="not yet" />
        </li>
      </ol>
      <Attempts of={execution} />
      {!terminal && execution.isCancelRequested && (
        <p>
          <StateBadge status={status} /> It was asked to end.
        </p>
      )}
    </section>
  );
}

function Attempts({ of: { attempts } }: { readonly of: Execution }) {
  if (attempts === undefined || attempts.length === 0) return null;
  return (
    <>
      <h2 className="timeline-title">Attempts</h2>
      <ol className="timeline-attempts">
        {attempts.map((attempt) => (
          <li key={attempt.attempt}>
            {attempt.code === undefined ? "No code" : <span className="mono">{attempt.code}</span>}
            {attempt.detail !== undefined && <span> {attempt.detail}</span>}
          </li>
        ))}
      </ol>
    </>
  );
}
