import { CPU_CAP_CONCURRENT } from "@platform/contract/platform-api/plans";
import type { PutPlan } from "@platform/contract/platform-api/plans";
import { Problem } from "@platform/contract/problems";
import { NO_TERMS, isFree } from "../store/plans.ts";
import type { PlanTerms } from "../store/plans.ts";

/**
 * The terms of a request, complete: equal terms have equal texts.
 *
 * @throws Problem INVALID_INPUT for terms that contradict each other
 */
export function readTerms(plan: Omit<PutPlan, "revision">): PlanTerms {
  const { limits, ...given } = plan;
  const terms: PlanTerms = { ...NO_TERMS, ...given, ...limits };
  const exact = {
    ...terms,
    monthly: trimZeros(terms.monthly),
    perExecution: trimZeros(terms.perExecution),
    perCpuSecond: trimZeros(terms.perCpuSecond),
    concurrent: terms.concurrent ?? (hasCpuCap(terms) ? CPU_CAP_CONCURRENT : null),
  };
  checkTerms(exact);
  return exact;
}

/** CPU time is known when executions end: only their number bounds what they take beyond such a cap. */
function hasCpuCap({ unit, perMonth }: PlanTerms): boolean {
  return unit === "cpu-second" && perMonth !== null;
}

function checkTerms(terms: PlanTerms): void {
  if (isFree(terms) && terms.currency !== null)
    throw refuse("/currency", "must be absent or null where every price is zero");
  if (!isFree(terms) && terms.currency === null)
    throw refuse("/currency", "is missing; say in which currency the prices are, for example EUR");
  if (terms.perMonth !== null && terms.perMonth < terms.included)
    throw refuse("/limits/perMonth", "must not be lower than included, or be absent");
}

function refuse(path: string, message: string): Problem {
  return new Problem("INVALID_INPUT", `${path} ${message}.`, { errors: [{ path, message }] });
}

function trimZeros(price: string): string {
  const [whole = "0", fraction = ""] = price.split(".");
  const kept = fraction.replace(/0{1,6}$/u, "");
  return kept === "" ? whole : `${whole}.${kept}`;
}
