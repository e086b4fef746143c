import type { NormalResult } from "@platform/contract/quantum-api/normal";
import { isObject } from "./read-json.ts";
import { readSampleSet } from "./read-sample-set.ts";
import type { SampleSet } from "./read-sample-set.ts";

/*
 * What a backend has returned, as far as the console knows its form; whatever else it is, is shown as JSON. Nothing of it is trusted: a
 * backend is somebody's program, and what does not have the form exactly is no result of that form.
 */

/** A register of a circuit: what each shot has measured, packed (`read-shots.ts`). */
export interface Register {
  readonly name: string;
  readonly bits: number;
  /** Base64 of zlib. */
  readonly samples: string;
}

/** A circuit whose shots were measured, for each of its sets of parameters. */
export interface MeasuredCircuit {
  readonly name: string | null;
  /** Sets of parameters; a circuit without parameters has one. */
  readonly sets: number;
  /** Each shot; null: there are counts alone. */
  readonly registers: readonly Register[] | null;
  /** How often each outcome was measured, or with which probability; null: it is counted from the shots. */
  readonly outcomes: readonly Outcome[] | null;
  /** false: the outcomes have probabilities. */
  readonly isCounted: boolean;
}

/** An outcome: its bits, and how often it was measured. */
export type Outcome = readonly [bits: string, count: number];

/** Expectation values of a circuit. */
export interface EstimatedCircuit {
  readonly name: string | null;
  readonly values: readonly { readonly value: number; readonly error: number | null }[];
}

/** A result that the console knows. */
export type ShownResult =
  | { readonly kind: "measured"; readonly circuits: readonly MeasuredCircuit[] }
  | { readonly kind: "estimated"; readonly circuits: readonly EstimatedCircuit[] }
  | { readonly kind: "sampled"; readonly samples: SampleSet }
  | { readonly kind: "other" };

const OTHER: ShownResult = { kind: "other" };
/** Bits of a register that are read. */
const MOST_BITS = 20_000;
/** Values of one circuit that are read. */
const MOST_VALUES = 10_000;

/** Reads the text of a result. */
export function readResult(text: string): ShownResult {
  try {
    return readForm(JSON.parse(text));
  } catch {
    // No JSON, or lists within lists deeper than can be read.
    return OTHER;
  }
}

function readForm(result: unknown): ShownResult {
  if (!isObject(result)) return OTHER;
  const samples = readSampleSet(result["sampleset"]);
  if (samples !== null) return { kind: "sampled", samples };
  // Results for other SDKs have orders of bits of their own: the platform reads them (`readNormal`).
  const { pubs } = result;
  if (!Array.isArray(pubs) || pubs.length === 0) return OTHER;
  const measured = readAll(pubs, readMeasured);
  if (measured !== null) return { kind: "measured", circuits: measured };
  const estimated = readAll(pubs, readEstimated);
  return estimated === null ? OTHER : { kind: "estimated", circuits: estimated };
}

/** Reads what the platform makes of a result that has none of the forms above: its counts, or its probabilities. */
export function readNormal(text: string): ShownResult {
  const { circuits = [] } = JSON.parse(text) as NormalResult;
  const measured = readAll(circuits, ({ name, counts, probabilities }): MeasuredCircuit | null => {
    const outcomes = readOutcomes(counts ?? probabilities);
    const isCounted = counts !== undefined;
    return outcomes === null ? null : { name, sets: 1, registers: null, outcomes, isCounted };
  });
  return measured === null || measured.length === 0 ? OTHER : { kind: "measured", circuits: measured };
}

function readAll<Pub, T>(pubs: readonly Pub[], read: (pub: Pub) => T | null): readonly T[] | null {
  const found = pubs.map(read).filter((one) => one !== null);
  return found.length === pubs.length ? found : null;
}

const readName = (pub: Readonly<Record<string, unknown>>): string | null =>
  typeof pub["name"] === "string" && pub["name"] !== "" ? pub["name"] : null;

function readMeasured(pub: unknown): MeasuredCircuit | null {
  if (!isObject(pub)) return null;
  const outcomes = readOutcomes(pub["counts"]);
  if (outcomes !== null) {
    const isCounted = outcomes.every(([, count]) => Number.isInteger(count));
    return { name: readName(pub), sets: 1, registers: null, outcomes, isCounted };
  }
  if (!Array.isArray(pub["registers"]) || pub["registers"].length === 0) return null;
  const registers = readAll(pub["registers"], readRegister);
  const sets = registers?.[0]?.sets;
  if (registers === null || sets === undefined || registers.some((one) => one.sets !== sets)) return null;
  return { name: readName(pub), sets, registers, outcomes: null, isCounted: true };
}

function readOutcomes(counts: unknown): readonly Outcome[] | null {
  if (!isObject(counts)) return null;
  const outcomes = Object.entries(counts);
  const isCounted = outcomes.every(([, count]) => typeof count === "number" && count >= 0);
  return isCounted && outcomes.length > 0 ? sortByCount(outcomes as Outcome[]) : null;
}

/** The most frequent first. */
export function sortByCount(outcomes: readonly Outcome[]): readonly Outcome[] {
  return outcomes.toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

function readRegister(register: unknown): (Register & { readonly sets: number }) | null {
  if (!isObject(register)) return null;
  const { name, bits, samples, shape } = register;
  if (typeof bits !== "number" || !Number.isInteger(bits) || bits < 1 || bits > MOST_BITS) return null;
  if (typeof samples !== "string" || !Array.isArray(shape)) return null;
  const sizes = shape as readonly unknown[];
  if (!sizes.every((size) => Number.isInteger(size) && (size as number) > 0)) return null;
  const sets = (sizes as readonly number[]).reduce((product, size) => product * size, 1);
  return { name: typeof name === "string" ? name : "", bits, samples, sets };
}

function readEstimated(pub: unknown): EstimatedCircuit | null {
  if (!isObject(pub)) return null;
  const values = flatten(pub["evs"]);
  if (values === null) return null;
  const errors = flatten(pub["stds"]) ?? [];
  return {
    name: readName(pub),
    values: values.map((value, at) => ({ value, error: errors[at] ?? null })),
  };
}

/** Numbers in lists of lists, in their order; null: there is anything else. */
function flatten(value: unknown): readonly number[] | null {
  const found = (Array.isArray(value) ? (value as unknown[]).flat(Infinity) : [value]).slice(0, MOST_VALUES);
  return found.every((one) => typeof one === "number") && found.length > 0 ? found : null;
}
