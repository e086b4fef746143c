import type { NormalCircuit } from "@platform/contract/quantum-api/normal";
import { isRecord } from "@platform/engine/base/json";
import type { Budget } from "./budget.ts";
import type { SentAs } from "./normalize.ts";

/*
 * Results as the SDKs of others want them (`platform_quantum.backend.dialects`): each has an order of bits of its own. Here the first bit stands last.
 */

type Found = Pick<NormalCircuit, "shots" | "counts" | "probabilities" | "amplitudes">;

/** The circuits of a result; null: it is none of these. `sent` null: the backend's own form, of which the bits have the normal order. */
export async function readDialect(
  result: unknown,
  sent: SentAs | null,
  budget: Budget,
): Promise<readonly NormalCircuit[] | null> {
  const listed = isRecord(result) ? (result["results"] ?? result["value"] ?? [result]) : result;
  if (!Array.isArray(listed)) return null;
  budget.spend(listed.length);
  const circuits: NormalCircuit[] = [];
  for (const one of listed as readonly unknown[]) {
    const found = isRecord(one) ? await readOne(one, sent, budget) : null;
    if (found === null) return null;
    circuits.push({ name: null, index: [], ...found });
  }
  return circuits;
}

type Raw = Readonly<Record<string, unknown>>;

async function readOne(raw: Raw, sent: SentAs | null, budget: Budget): Promise<Found | null> {
  if (raw["histogram"] !== undefined)
    return sent === null ? null : readHistogram(raw["histogram"], sent, budget);
  if (raw["measurements"] !== undefined) return await readMeasurements(raw["measurements"], budget);
  // One of the two SDKs that send OpenQASM 2 names a mode, and has the first bit first.
  const order = sent !== null && Object.hasOwn(sent.inputParams, "mode") ? turn : keep;
  if (raw["counts"] !== undefined) return readCounts(raw["counts"], order, budget);
  if (raw["amplitudes"] !== undefined) return readAmplitudes(raw["amplitudes"], budget);
  if (Array.isArray(raw["statevector"])) return readState(raw["statevector"], budget);
  return null;
}

const keep = (bits: string): string => bits;
const turn = (bits: string): string => Array.from(bits).toReversed().join("");
const BITS = /^[01]+$/u;

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function readCounts(given: unknown, order: (bits: string) => string, budget: Budget): Found | null {
  if (!isRecord(given)) return null;
  const counts = new Map<string, number>();
  let shots = 0;
  for (const [key, count] of Object.entries(given)) {
    const bits = order(key.replaceAll(" ", ""));
    if (!BITS.test(bits) || !isCount(count)) return null;
    budget.spend(1, bits.length);
    shots += count;
    counts.set(bits, (counts.get(bits) ?? 0) + count);
  }
  return { shots, counts: Object.fromEntries(sort(counts)) };
}

const sort = <T>(entries: Iterable<readonly [string, T]>) =>
  [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));

const DECIMAL = /^[0-9]{1,40}$/u;
const MOST_QUBITS = 100;
/** What a product of fractions misses of a whole number. */
const NEARLY = 1e-6;

/** IonQ's: the number of a state and its probability. Clients that send no map of measurements have the first qubit first. */
function readHistogram(given: unknown, { inputParams, shots }: SentAs, budget: Budget): Found | null {
  const qubits = Number(inputParams["qubits"]);
  if (!isRecord(given) || !Number.isInteger(qubits) || qubits < 1 || qubits > MOST_QUBITS) return null;
  const order = isSet(inputParams["meas_map"]) ? keep : turn;
  const shares = Object.entries(given).map(([key, share]) => readShare(key, share, qubits));
  const found = shares.filter((one) => one !== null).map(([bits, share]) => [order(bits), share] as const);
  if (found.length < shares.length) return null;
  budget.spend(found.length, qubits);
  const counts = shots === null ? null : toWholeCounts(found, shots);
  if (counts !== null) return { shots, counts: Object.fromEntries(sort(counts)) };
  return { shots, probabilities: Object.fromEntries(sort(found)) };
}

function readShare(key: string, share: unknown, qubits: number): readonly [string, number] | null {
  if (!DECIMAL.test(key) || typeof share !== "number" || share < 0 || share > 1) return null;
  const bits = BigInt(key).toString(2).padStart(qubits, "0");
  return bits.length > qubits ? null : [bits, share];
}

/** As Python takes it: an empty list is none. */
function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== "";
}

/** Null: they are no shares of these shots. */
function toWholeCounts(shares: readonly (readonly [string, number])[], shots: number) {
  const counts = shares.map(([bits, share]) => [bits, Math.round(share * shots)] as const);
  const isNear = shares.every(([, share]) => Math.abs(share * shots - Math.round(share * shots)) < NEARLY);
  const sum = counts.reduce((all, [, count]) => all + count, 0);
  return isNear && sum === shots ? counts : null;
}

/** Braket's: the bits of each shot, the first qubit first. */
async function readMeasurements(given: unknown, budget: Budget): Promise<Found | null> {
  if (!Array.isArray(given) || given.length === 0) return null;
  budget.spendShots(given.length);
  const counts = new Map<string, number>();
  for (const shot of given as readonly unknown[]) {
    // Before they are joined: lists within lists may be deeper than can be.
    if (!Array.isArray(shot) || shot.length === 0 || !shot.every(isBit)) return null;
    const bits = turn(shot.join(""));
    if (!counts.has(bits)) budget.spend(1, bits.length);
    counts.set(bits, (counts.get(bits) ?? 0) + 1);
    await budget.breathe(1);
  }
  return { shots: given.length, counts: Object.fromEntries(sort(counts)) };
}

function isBit(value: unknown): boolean {
  return value === 0 || value === 1;
}

function isAmplitude(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "number");
}

function readAmplitudes(given: unknown, budget: Budget): Found | null {
  if (!isRecord(given)) return null;
  const amplitudes: [string, number[]][] = [];
  for (const [bits, amplitude] of Object.entries(given)) {
    if (!BITS.test(bits) || !isAmplitude(amplitude)) return null;
    budget.spend(1, bits.length);
    amplitudes.push([turn(bits), amplitude]);
  }
  return { shots: null, amplitudes: Object.fromEntries(sort(amplitudes)) };
}

/** All states of some qubits in the order of their numbers, of which the first qubit is the highest bit. */
function readState(given: readonly unknown[], budget: Budget): Found | null {
  const qubits = Math.log2(given.length);
  if (!Number.isInteger(qubits) || qubits < 1) return null;
  budget.spend(given.length, qubits);
  if (!given.every(isAmplitude)) return null;
  const amplitudes = given.map(
    (amplitude, state) => [turn(state.toString(2).padStart(qubits, "0")), amplitude] as const,
  );
  return { shots: null, amplitudes: Object.fromEntries(sort(amplitudes)) };
}
