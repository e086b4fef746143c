import type { QuantumEstimate } from "@platform/contract/quantum-api/price";
import { isRecord } from "@platform/engine/base/json";
import { formatDecimal } from "../base/decimal.ts";
import type { JobFacts } from "../store/quantum-jobs.ts";
import { findBound, priceRun } from "../store/quantum-costs.ts";

const NO_DRY_RUN = "The backend does not answer dry runs: it has run the job, or done something else.";
/** More are not shown. */
const MOST_WARNINGS = 100;
const LONGEST_WARNING = 1_000;
/** A backend that says more says nothing. */
const MOST_SECONDS = 1_000_000_000;

/** What a dry run has found out: what its backend has returned, and what that costs. */
export function toEstimate(
  result: Uint8Array,
  { terms }: Pick<JobFacts, "terms">,
  waiting: number | null,
): QuantumEstimate {
  const found = parse(result);
  const isAnswer = typeof found["valid"] === "boolean";
  const seconds = readSeconds(found["seconds"]);
  const isBySecond = terms !== undefined && terms.perSecond !== "0";
  const ms = Math.ceil((seconds ?? 0) * 1_000);
  const cost = terms === undefined ? "0" : formatDecimal(priceRun(terms, ms));
  return {
    valid: found["valid"] === true,
    warnings: [...readWarnings(found["warnings"]), ...(isAnswer ? [] : [NO_DRY_RUN])],
    seconds,
    cost: isBySecond && seconds === null ? null : cost,
    most_cost: terms === undefined ? "0" : formatDecimal(findBound(terms)),
    currency: terms?.currency ?? null,
    queue_position: waiting,
  };
}

function parse(result: Uint8Array): Readonly<Record<string, unknown>> {
  // One that is too large for a row is no answer to a dry run.
  if (result.length === 0) return {};
  const value: unknown = JSON.parse(Buffer.from(result).toString("utf8"));
  return isRecord(value) ? value : {};
}

function readSeconds(given: unknown): number | null {
  return typeof given === "number" && given >= 0 && given <= MOST_SECONDS ? given : null;
}

function readWarnings(given: unknown): readonly string[] {
  if (!Array.isArray(given)) return [];
  return (given as readonly unknown[])
    .filter((one) => typeof one === "string")
    .slice(0, MOST_WARNINGS)
    .map((text) => text.slice(0, LONGEST_WARNING));
}
