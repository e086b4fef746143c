import type { FieldError } from "@platform/contract/problems";
import { isRecord } from "@platform/engine/base/json";

/*
 * An estimator is asked for a precision, not for shots: the mean of N shots of a term has an error of 1 / sqrt(N) at most, so 1 / precision^2 shots are taken of
 * each term of an observable. A backend that measures several terms at once takes fewer: these are the most that it needs.
 */

/** What of a job decides it. */
interface Asked {
  readonly input: unknown;
  readonly input_params?: Readonly<Record<string, unknown>> | undefined;
}

/** Whether expectation values are asked for. */
export function isEstimate(input: unknown): boolean {
  return isRecord(input) && input["primitive"] === "estimator";
}

/** The shots of one term; null: the job has no precision, and the backend decides. */
export function countForPrecision({ input_params = {} }: Asked): number | null {
  const precision = input_params["precision"];
  if (typeof precision !== "number" || !(precision > 0 && precision < 1)) return null;
  // 0.1 squared is a little more than 0.01, and 1 / 0.01 a little less than 100.
  return Math.ceil((1 / precision / precision) * (1 - Number.EPSILON * 4));
}

/** Lists that are deeper are none of observables. */
const DEEPEST = 8;

/** Terms of observables: a text, an object of texts and numbers, or lists of these. One at least. */
export function countTerms(observables: unknown): number {
  return Math.max(1, count(observables, DEEPEST));
}

function count(observable: unknown, depth: number): number {
  if (Array.isArray(observable) && depth > 0)
    return (observable as readonly unknown[]).reduce<number>((sum, one) => sum + count(one, depth - 1), 0);
  return isRecord(observable) ? Object.keys(observable).length : 1;
}

/** What a job lacks whose shots cannot be counted. */
export function describeMissing({ input }: Asked): FieldError {
  return isEstimate(input)
    ? {
        path: "/input_params/precision",
        message:
          "precision must be sent, a number between 0 and 1: shots have a price, and how many an estimator takes follows from it.",
      }
    : { path: "/shots", message: "shots must be sent: the backend has a price for each." };
}
