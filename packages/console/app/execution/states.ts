import { STATE_WORDS } from "@platform/contract/words.gen";
import type { ExecutionStatus } from "@platform/contract/execution";

/** "PENDING" as "Pending". */
export function toStateWord(status: ExecutionStatus): string {
  return status.charAt(0) + status.slice(1).toLowerCase();
}

/** All states in the order of an execution's life, with their words. */
export const EXECUTION_STATES: readonly { readonly status: ExecutionStatus; readonly word: string }[] = (
  Object.keys(STATE_WORDS) as ExecutionStatus[]
).map((status) => ({ status, word: toStateWord(status) }));
