import { STATE_WORDS } from "@platform/contract/words.gen";
import type { ExecutionStatus } from "@platform/contract/execution";

interface StateBadgeProps {
  readonly status: ExecutionStatus;
  /** Its code where it did not succeed; shown behind the state. */
  readonly code?: string | undefined;
}

/** A state: a dot and its word, never a colour alone. */
export function StateBadge({ status, code }: StateBadgeProps) {
  const { isFinal, meaning } = STATE_WORDS[status];
  return (
    <span className="state" title={`${status}: ${meaning}`}>
      <span className="state-dot" data-live={!isFinal || undefined} data-state={status} aria-hidden />
      <span>{toWord(status)}</span>
      {code !== undefined && <span className="mono">{code}</span>}
    </span>
  );
}

/** "PENDING" as "Pending". */
function toWord(status: ExecutionStatus): string {
  return status.charAt(0) + status.slice(1).toLowerCase();
}
