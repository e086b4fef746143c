import type { Backend } from "@platform/contract/quantum-api/backends";
import type { QuantumJob } from "@platform/contract/quantum-api/jobs";

/** What a job has cost; `-`: its backend has no price, or it has not ended. */
export function describeCost({ cost, currency }: Pick<QuantumJob, "cost" | "currency">): string {
  return cost === null || currency === null ? "-" : `${cost} ${currency}`;
}

/** What jobs of a backend cost. */
export function describePrice({ price }: Pick<Backend, "price">): string {
  if (price === null) return "none";
  const { currency } = price;
  const parts = [
    [price.per_job, "a job"],
    [price.per_shot, "a shot"],
    [price.per_second, "a second"],
  ].flatMap(([amount, what]) => (amount === "0" ? [] : [`${amount} ${currency} ${what}`]));
  return parts.length === 0 ? "none" : parts.join(", ");
}
