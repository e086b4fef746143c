import { STATE_WORDS } from "@platform/contract/words.gen";
import type { ExecutionStatus } from "@platform/contract/execution";
import { toStateWord } from "./states.ts";

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
      <span>{toStateWord(status)}</span>
      {code !== undefined && <span className="mono">{code}</span>}
    </span>
  );
}
