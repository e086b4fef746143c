import type { Backend } from "@platform/contract/quantum-api/backends";
import { formatCount } from "../util/units.ts";

/** Words of the types of backends. */
export const TYPE_WORDS: Readonly<Record<Backend["type"], string>> = {
  QPU: "Quantum computer",
  SIMULATOR: "Simulator",
  ANNEALER: "Annealer",
};

/** "Superconducting" for SUPERCONDUCTING; "-" where it does not say. What is no such word stands as it is. */
export function describeTechnology({ technology }: Pick<Backend, "technology">): string {
  if (technology === "UNKNOWN") return "-";
  if (!/^[A-Za-z_ ]+$/u.test(technology)) return technology;
  const words = technology.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** "24 qubits", "1,000 variables"; "-" where it does not say. */
export function describeSize({ configuration }: Pick<Backend, "configuration">): string {
  const { qubit_count: qubits, variable_count: variables } = configuration ?? {};
  if (qubits !== undefined) return `${formatCount(qubits)} ${qubits === 1 ? "qubit" : "qubits"}`;
  return variables === undefined ? "-" : `${formatCount(variables)} variables`;
}

/** "1 to 1,000,000" */
export function describeRange({ min, max }: { readonly min: number; readonly max: number }): string {
  return min === max ? formatCount(min) : `${formatCount(min)} to ${formatCount(max)}`;
}
