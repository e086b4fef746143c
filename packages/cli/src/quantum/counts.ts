import { inflateSync } from "node:zlib";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { isRecord } from "@platform/engine/base/json";

/** How often each outcome was measured, the most frequent first; the bits of a register in one word, the last register first. */
export type Counts = readonly (readonly [outcome: string, count: number])[];

/** A backend may be somebody else's: what is no result of a million shots is shown as it is. */
const MAX_INFLATED = 64 * MEGABYTE;
const MOST_SHOTS = 2_000_000;
const MOST_BITS = 65_536;

/**
 * The counts of each circuit of a result of shape `registers`; null: the result has another shape, or circuits with parameters. Samples are bytes
 * in the order of Qiskit's BitArray: each shot a number with the highest byte first.
 */
export function readCounts(result: unknown): readonly Counts[] | null {
  if (!isRecord(result) || !Array.isArray(result["pubs"])) return null;
  const counts = (result["pubs"] as readonly unknown[]).map(countPub);
  return counts.every((one) => one !== null) ? counts : null;
}

function countPub(pub: unknown): Counts | null {
  if (!isRecord(pub) || !Array.isArray(pub["registers"])) return null;
  const words = (pub["registers"] as readonly unknown[]).map(readWords);
  const [first, ...others] = words;
  if (first === undefined || first === null) return null;
  const counts = new Map<string, number>();
  for (let shot = 0; shot < first.length; shot++) {
    const parts = [first, ...others].map((register) => register?.[shot]);
    if (parts.includes(undefined)) return null;
    const outcome = parts.reduceRight<string>((words, part) => `${words} ${part ?? ""}`, "").slice(1);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

/** The bits of each shot; null: there are several sets of parameters, or it is no register. */
function readWords(register: unknown): readonly string[] | null {
  if (!isRecord(register)) return null;
  const { bits, samples, shape } = register;
  if (typeof bits !== "number" || !Number.isInteger(bits) || bits < 1 || bits > MOST_BITS) return null;
  if (typeof samples !== "string" || !Array.isArray(shape) || shape.length > 0) return null;
  const bytes = inflate(samples);
  const width = Math.ceil(bits / 8);
  if (bytes === null || bytes.length / width > MOST_SHOTS) return null;
  return Array.from({ length: Math.floor(bytes.length / width) }, (_, shot) => {
    const word = [...bytes.subarray(shot * width, (shot + 1) * width)]
      .map((byte) => byte.toString(2).padStart(8, "0"))
      .join("");
    return word.slice(word.length - bits);
  });
}

/** Null: it is no zlib, or too large. */
function inflate(base64: string): Buffer | null {
  try {
    return inflateSync(Buffer.from(base64, "base64"), { maxOutputLength: MAX_INFLATED });
  } catch {
    return null;
  }
}
