import type { BackendDescription } from "@platform/contract/quantum-api/description";
import { AMOUNT_DECIMALS } from "@platform/contract/quantum-api/price";
import type { BackendPrice, DescribedPrice } from "@platform/contract/quantum-api/price";
import { Problem } from "@platform/contract/problems";
import type { FieldError } from "@platform/contract/problems";
import { isRecord } from "@platform/engine/base/json";
import { formatDecimal, parseAmount } from "../base/decimal.ts";
import { countForPrecision, countTerms, describeMissing, isEstimate } from "./estimator-shots.ts";
import { findBound } from "../store/quantum-costs.ts";
import type { JobTerms } from "../store/quantum-costs.ts";

/** The price of a backend, as the quantum API has it; null: it has none. */
export function toPrice({ price }: BackendDescription): BackendPrice | null {
  if (price === undefined) return null;
  return {
    currency: price.currency,
    per_job: toText(price.perJob),
    per_shot: toText(price.perShot),
    per_second: toText(price.perSecond),
  };
}

function toText(amount: DescribedPrice["perJob"] = "0"): string {
  return formatDecimal(parseAmount(amount) ?? 0n);
}

/** What is sent, as far as it decides about the price. */
interface Priced {
  readonly input: unknown;
  readonly shots?: number | undefined;
  readonly input_params?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * What a job is started for; null: its backend has no price.
 *
 * @throws Problem INVALID_INPUT where shots have a price, and their number is not sent
 */
export function findTerms(
  description: BackendDescription,
  request: Priced,
  timeoutSeconds: number,
): JobTerms | null {
  const price = toPrice(description);
  if (price === null) return null;
  const shots = countShots(request);
  if (shots === null && price.per_shot !== "0") throw refuse(describeMissing(request));
  if (shots !== null && !Number.isSafeInteger(shots))
    throw refuse({ path: "/shots", message: "The job has more shots in all than can be counted." });
  return {
    currency: price.currency,
    perJob: price.per_job,
    perShot: price.per_shot,
    perSecond: price.per_second,
    shots: shots ?? 0,
    timeoutSeconds,
  };
}

/** Where the formats list their circuits. */
const LISTS = ["pubs", "qasm", "programs"] as const;

/**
 * Of all circuits, and of each once for every set of its parameters. An input may have several lists, and which of them counts is for the backend to
 * say: the one with the most shots is paid for. Null: the backend decides about some.
 */
function countShots(request: Priced): number | null {
  const { input, shots } = request;
  if (!isRecord(input)) return shots ?? null;
  const least = isEstimate(input) ? countForPrecision(request) : 0;
  if (least === null) return null;
  const lists = LISTS.map((name) => input[name]).filter((list) => Array.isArray(list));
  // A program of Braket has its own shots beside its source.
  const isOne = lists.length === 0 || Object.hasOwn(input, "source");
  const readings = [...lists, ...(isOne ? [[input]] : [])].map((list) => sumShots(list, shots, least));
  return readings.includes(null) ? null : Math.max(...readings.map(Number));
}

/** `least`: of a circuit that says fewer, or nothing. */
function sumShots(circuits: readonly unknown[], shots: number | undefined, least: number): number | null {
  let sum = 0;
  for (const circuit of circuits) {
    const own = isRecord(circuit) && isCount(circuit["shots"]) ? circuit["shots"] : shots;
    if (own === undefined && least === 0) return null;
    const terms = least === 0 || !isRecord(circuit) ? 1 : countTerms(circuit["observables"]);
    sum += Math.max(own ?? 0, least) * countSets(circuit) * terms;
  }
  return sum;
}

function countSets(pub: unknown): number {
  const parameters = isRecord(pub) ? pub["parameters"] : undefined;
  const shape = isRecord(parameters) ? parameters["shape"] : undefined;
  if (!Array.isArray(shape)) return 1;
  return (shape as readonly unknown[]).reduce<number>(
    (product, length) => (isCount(length) ? product * length : product),
    1,
  );
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** @throws Problem MAX_COST_EXCEEDED, and INVALID_INPUT for what is no amount */
export function requireWithin(terms: JobTerms | null, maxCost: string | number | null | undefined): void {
  if (maxCost === undefined || maxCost === null) return;
  const most = parseAmount(maxCost);
  if (most === null)
    throw refuse({
      path: "/max_cost",
      message: `max_cost has more than ${AMOUNT_DECIMALS} digits behind the point.`,
    });
  if (terms === null) return;
  const bound = findBound(terms);
  if (bound <= most) return;
  throw new Problem(
    "MAX_COST_EXCEEDED",
    `The job may cost up to ${formatDecimal(bound)} ${terms.currency}${explainBound(terms)}, and its max_cost is ${formatDecimal(most)}. Nothing has run.`,
  );
}

/** What a bound is made of, where that is not plain. */
export function explainBound({ perSecond, timeoutSeconds }: JobTerms): string {
  return perSecond === "0" ? "" : ` (with all ${timeoutSeconds} seconds of its time limit)`;
}

function refuse(error: FieldError): Problem {
  return new Problem("INVALID_INPUT", error.message, { errors: [error] });
}
