import { isObject } from "./read-json.ts";

/** What an annealer has found: a row for each sample, in a table of variables. */
export interface SampleSet {
  readonly variables: readonly string[];
  /** The least energy first. */
  readonly rows: readonly SampleRow[];
}

/** A sample. */
interface SampleRow {
  readonly energy: number;
  readonly occurrences: number;
  /** Of the variable at this place. */
  readonly valueAt: (place: number) => number;
}

const BITS = 32;

/** Reads a sample set as dimod serializes it, with its samples packed or not; null: it is none. */
export function readSampleSet(set: unknown): SampleSet | null {
  if (!isObject(set) || !isObject(set["vectors"]) || !Array.isArray(set["variable_labels"])) return null;
  const rows = readArray(set["sample_data"]);
  const energies = readArray(set["vectors"]["energy"]);
  const occurrences = readArray(set["vectors"]["num_occurrences"]);
  if (rows === null || energies === null || rows.length !== energies.length) return null;
  const variables = (set["variable_labels"] as readonly unknown[]).map((label) =>
    typeof label === "string" ? label : JSON.stringify(label),
  );
  const isPacked = set["sample_packed"] === true;
  const low = set["variable_type"] === "SPIN" ? -1 : 0;
  const found = rows.map((row, at): SampleRow | null => {
    const energy = energies[at];
    if (typeof energy !== "number") return null;
    if (!Array.isArray(row) || !row.every((word) => typeof word === "number")) return null;
    const words = row as readonly number[];
    if (words.length < (isPacked ? Math.ceil(variables.length / BITS) : variables.length)) return null;
    const count = occurrences?.[at];
    return {
      energy,
      occurrences: typeof count === "number" ? count : 1,
      valueAt: (place) => (isPacked ? (readBit(words, place) ? 1 : low) : (words[place] ?? 0)),
    };
  });
  const whole = found.filter((row) => row !== null);
  return whole.length === rows.length
    ? { variables, rows: whole.toSorted((a, b) => a.energy - b.energy) }
    : null;
}

/** 32 variables are a number, the first one its lowest bit. */
function readBit(words: readonly number[], place: number): boolean {
  return (((words[Math.floor(place / BITS)] ?? 0) >>> (place % BITS)) & 1) === 1;
}

function readArray(array: unknown): readonly unknown[] | null {
  return isObject(array) && Array.isArray(array["data"]) ? (array["data"] as readonly unknown[]) : null;
}

/** The rows of the least energy as texts: annealers list what they have found several times as often, here it is one row with all occurrences. */
export function groupSamples(set: SampleSet, most: number): readonly GroupedSample[] {
  const groups = new Map<string, GroupedSample>();
  for (const row of set.rows) {
    // Variables that are not shown tell samples apart as well.
    const key = set.variables.map((_, place) => row.valueAt(place)).join(" ");
    const { energy } = row;
    const known = groups.get(key);
    const occurrences = row.occurrences + (known?.occurrences ?? 0);
    groups.set(key, { energy, occurrences, sample: known?.sample ?? describeSample(set, row, most) });
  }
  return [...groups.values()];
}

/** A sample, and how often it was found in all. */
export interface GroupedSample {
  readonly energy: number;
  readonly occurrences: number;
  readonly sample: string;
}

/** `a=1 b=0 and 3 more`: the values of a sample, of the first variables. */
export function describeSample({ variables }: SampleSet, row: SampleRow, most: number): string {
  const shown = variables.slice(0, most).map((name, place) => `${name.slice(0, 100)}=${row.valueAt(place)}`);
  const rest = variables.length - shown.length;
  return `${shown.join(" ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
