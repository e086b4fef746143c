import { Problem } from "@platform/contract/problems";
import type { VersionTarget } from "../versions/runnable-version.ts";

const ASK_SO =
  "Executions of this backend have a price. They are started as quantum jobs, which count it for max_cost and budgets: POST /quantum/jobs, or 'platform quantum run'.";

/**
 * What has a price is started by who counts it alone: other ways would spend beside the budget.
 *
 * @throws Problem INVALID_INPUT
 */
export function requireCounted(
  { isPriced = false }: Pick<VersionTarget, "isPriced">,
  isCounted: boolean,
): void {
  if (isPriced && !isCounted) throw new Problem("INVALID_INPUT", ASK_SO);
}
