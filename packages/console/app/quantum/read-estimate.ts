import type { QuantumEstimate } from "@platform/contract/quantum-api/price";
import { isObject } from "./read-json.ts";

/** Reads the result of a dry run; null: it has another form. */
export function readEstimate(text: string): QuantumEstimate | null {
  try {
    const found: unknown = JSON.parse(text);
    return isObject(found) && typeof found["valid"] === "boolean" && Array.isArray(found["warnings"])
      ? (found as unknown as QuantumEstimate)
      : null;
  } catch {
    return null;
  }
}
