import type { NormalSample } from "@platform/contract/quantum-api/normal";
import { isRecord } from "@platform/engine/base/json";
import type { Budget } from "./budget.ts";

const WORD = 32;
/** Characters of a value beside its name. */
const BESIDE = 8;

/** The samples of a sample set as dimod serializes it, packed or not; null: it is none. @throws Problem NO_NORMAL_FORM */
export function readSamples(
  set: Readonly<Record<string, unknown>>,
  budget: Budget,
): readonly NormalSample[] | null {
  const { vectors, variable_labels: labels, sample_packed: packed, variable_type: type } = set;
  if (!isRecord(vectors) || !Array.isArray(labels)) return null;
  const rows = readArray(set["sample_data"]);
  const energies = readArray(vectors["energy"]);
  const occurrences = readArray(vectors["num_occurrences"]) ?? [];
  if (rows === null || energies === null || rows.length !== energies.length) return null;
  if (!labels.every(isLabel)) return null;
  const names = labels.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  const characters = names.reduce((sum, name) => sum + name.length + BESIDE, 0);
  const form = { count: names.length, low: type === "SPIN" ? -1 : 0, isPacked: packed === true };
  budget.spend(rows.length, characters);
  const samples = rows.map((row, at): NormalSample | null => {
    const [energy, count = 1] = [energies[at], occurrences[at]];
    const values = Array.isArray(row) ? readValues(row, form) : null;
    if (values === null || typeof energy !== "number" || typeof count !== "number") return null;
    const named = names.map((name, place) => [name, values[place] ?? 0] as const);
    return { values: Object.fromEntries(named), energy, occurrences: count };
  });
  const whole = samples.filter((one) => one !== null);
  return whole.length === samples.length ? whole.toSorted((a, b) => a.energy - b.energy) : null;
}

/** A text, a number, or a list of these, as Python's tuples are serialized. */
function isLabel(label: unknown): boolean {
  return Array.isArray(label) ? label.every(isSimple) : isSimple(label);
}

function isSimple(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}

/** The value of each variable; packed, 32 of them are a number, the first one its lowest bit. */
function readValues(
  row: readonly unknown[],
  { count, low, isPacked }: { readonly count: number; readonly low: number; readonly isPacked: boolean },
): readonly number[] | null {
  if (row.length < (isPacked ? Math.ceil(count / WORD) : count)) return null;
  if (!row.every((word) => typeof word === "number")) return null;
  const words: readonly number[] = row;
  if (!isPacked) return words.slice(0, count);
  return Array.from({ length: count }, (_, place) => {
    const word = words[Math.floor(place / WORD)] ?? 0;
    return ((word >>> (place % WORD)) & 1) === 1 ? 1 : low;
  });
}

function readArray(array: unknown): readonly unknown[] | null {
  return isRecord(array) && Array.isArray(array["data"]) ? (array["data"] as readonly unknown[]) : null;
}
