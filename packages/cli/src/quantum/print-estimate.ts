import { cleanText } from "../base/output.ts";
import type { Output } from "../base/output.ts";

const UNKNOWN = "not known";

/** Prints the result of a dry run. It has succeeded if the backend would run the job. */
export function printEstimate(output: Output, estimate: Readonly<Record<string, unknown>>) {
  const { valid, warnings, seconds, cost, most_cost: most, currency, queue_position: waiting } = estimate;
  const unit = typeof currency === "string" ? ` ${currency}` : "";
  const money = (amount: unknown) => (typeof amount === "string" ? `${amount}${unit}` : UNKNOWN);
  output.print(`Valid     ${valid === true ? "yes" : "no"}`);
  output.print(`Cost      ${money(cost)}, at most ${money(most)}`);
  output.print(`Seconds   ${typeof seconds === "number" ? String(seconds) : UNKNOWN}`);
  output.print(`Waiting   ${typeof waiting === "number" ? `${waiting} jobs before it` : UNKNOWN}`);
  if (Array.isArray(warnings))
    for (const warning of warnings as readonly unknown[])
      output.print(`Warning   ${cleanText(String(warning))}`);
  return { json: estimate, succeeded: valid === true };
}
