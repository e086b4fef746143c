import { useEffect, useState } from "react";
import { Time } from "../ui/time.tsx";
import { formatDuration } from "../util/times.ts";
import type { Execution } from "./advice.ts";
import { StateBadge } from "./state-badge.tsx";
import "./timeline.css";

const TICK_MS = 1_000;

/** From its creation to its end: when, and how long between. */
export function Timeline({ execution }: { readonly execution: Execution }) {
  const { createdAt, endedAt, waitedMs, ranMs, terminal, status } = execution;
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
        <Waited of={execution} />
        <Ran of={execution} />
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

function Waited({ of: { startedAt, terminal, waitedMs } }: { readonly of: Execution }) {
  const isWaiting = startedAt === undefined && !terminal;
  return (
    <li>
      <span className="timeline-name">{isWaiting ? "Waiting for" : "Waited"}</span>{" "}
      {isWaiting ? <CountedOn key={waitedMs} from={waitedMs} /> : formatDuration(waitedMs)}
    </li>
  );
}

function Ran({ of: { terminal, ranMs } }: { readonly of: Execution }) {
  const isRunning = ranMs !== undefined && !terminal;
  const none = terminal ? "not at all" : "not yet";
  return (
    <li>
      <span className="timeline-name">{isRunning ? "Running for" : "Ran"}</span>{" "}
      {isRunning ? (
        <CountedOn key={ranMs} from={ranMs} />
      ) : ranMs === undefined ? (
        none
      ) : (
        formatDuration(ranMs)
      )}
    </li>
  );
}

/** What the platform has said, in milliseconds, and the time since then by the browser's own clock. */
function CountedOn({ from }: { readonly from: number }) {
  const [sinceMs, setSinceMs] = useState(0);
  useEffect(() => {
    const saidAt = performance.now();
    const timer = setInterval(() => setSinceMs(performance.now() - saidAt), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return formatDuration(from + sinceMs);
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
