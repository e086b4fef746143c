import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { NormalCircuit } from "@platform/contract/quantum-api/normal";
import { isRecord } from "@platform/engine/base/json";
import { MOST_AXES, refuseLarge } from "./budget.ts";
import type { Budget } from "./budget.ts";

/** What each shot has measured, packed: a number of `bits` bits with the highest byte first. */
interface Register {
  readonly bits: number;
  readonly bytes: Buffer;
  readonly shape: readonly number[];
}

const MOST_BITS = 65_536;
const MOST_SETS = 100_000;
const MOST_REGISTERS = 1_000;

const inflateBytes = promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(inflate);

/**
 * The counts of a circuit, for each of its sets of parameters; null: its registers have not that form.
 *
 * @throws Problem NO_NORMAL_FORM for what is too large
 */
export async function countShots(
  name: string | null,
  given: readonly unknown[],
  budget: Budget,
): Promise<readonly NormalCircuit[] | null> {
  if (given.length === 0 || given.length > MOST_REGISTERS) return null;
  const registers: Register[] = [];
  for (const one of given) {
    const register = await readRegister(one, budget);
    if (register === null) return null;
    registers.push(register);
  }
  const [first] = registers;
  if (first === undefined) return null;
  const sets = first.shape.reduce((product, size) => product * size, 1);
  const rows = first.bytes.length / widthOf(first);
  const isWhole = registers.every(
    (one) => one.shape.join() === first.shape.join() && one.bytes.length / widthOf(one) === rows,
  );
  if (!isWhole || sets > MOST_SETS || rows % sets !== 0) return null;
  // Each set has the name, and is gone through, also without a shot.
  budget.spend(sets, first.shape.length + (name?.length ?? 0));
  budget.spendShots(Math.max(rows, sets) * registers.length);
  const shots = rows / sets;
  const parts = registers.toReversed().map((register) => ({ ...register, width: widthOf(register) }));
  const circuits: NormalCircuit[] = [];
  for (let set = 0; set < sets; set++) {
    const counts = await countRows(parts, { from: set * shots, to: (set + 1) * shots }, budget);
    circuits.push({ name, index: [...placeOf(set, first.shape)], shots, counts });
  }
  return circuits;
}

const widthOf = ({ bits }: Pick<Register, "bits">): number => Math.ceil(bits / 8);

async function readRegister(given: unknown, budget: Budget): Promise<Register | null> {
  if (!isRecord(given)) return null;
  const { bits, samples, shape } = given;
  if (typeof bits !== "number" || !Number.isInteger(bits) || bits < 1 || bits > MOST_BITS) return null;
  if (typeof samples !== "string" || !Array.isArray(shape)) return null;
  const sizes = shape as readonly unknown[];
  if (sizes.length > MOST_AXES || !sizes.every((size) => Number.isInteger(size) && (size as number) > 0))
    return null;
  const bytes = await inflateSamples(samples, budget);
  if (bytes === null || bytes.length % widthOf({ bits }) !== 0) return null;
  return { bits, bytes, shape: sizes as readonly number[] };
}

/** Null: they are no zlib. @throws Problem NO_NORMAL_FORM */
async function inflateSamples(base64: string, budget: Budget): Promise<Buffer | null> {
  // One that has no room for a byte is refused by zlib as well.
  const maxOutputLength = Math.max(1, budget.bytesLeft());
  try {
    const bytes = await inflateBytes(Buffer.from(base64, "base64"), { maxOutputLength });
    budget.spendBytes(bytes.length);
    return bytes;
  } catch (error) {
    if (error instanceof RangeError) throw refuseLarge("too many bytes of shots");
    return null;
  }
}

/** A register of an outcome; `width`: bytes of a row. */
interface Part extends Register {
  readonly width: number;
}

/** An outcome: a row that has it, and how many have. */
interface Outcome {
  readonly row: number;
  count: number;
}

/** So many bytes are a number that is exact. */
const MOST_KEY_BYTES = 6;

/** What tells outcomes apart: a number as long as there is one, since a text is made anew for each row. */
function createKey(parts: readonly Part[]): (row: number) => number | string {
  const width = parts.reduce((sum, part) => sum + part.width, 0);
  if (width > MOST_KEY_BYTES)
    return (row) => {
      let key = "";
      for (const { bytes, width } of parts) key += bytes.toString("latin1", row * width, (row + 1) * width);
      return key;
    };
  return (row) => {
    let key = 0;
    for (const { bytes, width } of parts)
      for (let at = row * width; at < (row + 1) * width; at++) key = key * 256 + (bytes[at] ?? 0);
    return key;
  };
}

/** How often each outcome stands in these rows; the last register comes first. */
async function countRows(
  parts: readonly Part[],
  { from, to }: { readonly from: number; readonly to: number },
  budget: Budget,
): Promise<Record<string, number>> {
  const bits = parts.reduce((sum, part) => sum + part.bits, 0);
  const toKey = createKey(parts);
  const found = new Map<number | string, Outcome>();
  await budget.breathe(parts.length);
  for (let row = from; row < to; row++) {
    const key = toKey(row);
    const known = found.get(key);
    if (known === undefined) {
      budget.spend(1, bits);
      found.set(key, { row, count: 1 });
    } else known.count++;
    // To wait for each row would take longer than to count it.
    const pause = budget.breathe(parts.length);
    if (pause !== undefined) await pause;
  }
  return await toCounts([...found.values()], parts, budget);
}

/** By bits, in their order. */
async function toCounts(
  found: readonly Outcome[],
  parts: readonly Part[],
  budget: Budget,
): Promise<Record<string, number>> {
  const counts: [string, number][] = [];
  for (const { row, count } of found) {
    let word = "";
    for (const { bits, bytes, width } of parts)
      word += toBits(bytes.subarray(row * width, (row + 1) * width), bits);
    counts.push([word, count]);
    const pause = budget.breathe(parts.length);
    if (pause !== undefined) await pause;
  }
  return Object.fromEntries(counts.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(2).padStart(8, "0"));

function toBits(bytes: Uint8Array, bits: number): string {
  let word = "";
  for (const byte of bytes) word += BYTES[byte] ?? "";
  return word.slice(word.length - bits);
}

/** Of a set among sets in this shape; the last index runs first. */
function placeOf(set: number, shape: readonly number[]): readonly number[] {
  let rest = set;
  return shape
    .toReversed()
    .map((size) => {
      const index = rest % size;
      rest = Math.floor(rest / size);
      return index;
    })
    .toReversed();
}
