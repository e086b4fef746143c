import { sortByCount } from "./read-result.ts";
import type { MeasuredCircuit, Outcome, Register } from "./read-result.ts";

/*
 * Shots are bytes in the order of Qiskit's BitArray: each shot is a number with the highest byte first, in as few bytes as its bits need,
 * and those of several sets of parameters stand behind each other.
 */

/** Bytes of all registers of a circuit that are unpacked: more are a file of the user, and a megabyte of a result can hold seven hundred. */
const MOST_BYTES = 64 * 1_048_576;
/** Shots of one set that are counted here. */
const MOST_SHOTS = 2_000_000;
/** Shots that are read before the page gets a turn. */
const AT_A_TIME = 100_000;

/** Outcomes of one set of parameters. */
export interface Counted {
  /** The most frequent first; null: they cannot be counted here. */
  readonly outcomes: readonly Outcome[] | null;
  /** Why not. */
  readonly why?: string;
}

const TOO_MANY = "There are too many shots to be counted here: download the result.";
const UNREADABLE = "The shots cannot be read: the result as JSON has them.";

/** Counts what a circuit has measured with one set of parameters. Never rejects. */
export async function countOutcomes(circuit: MeasuredCircuit, set: number): Promise<Counted> {
  if (circuit.registers === null) return { outcomes: circuit.outcomes ?? [] };
  const shots = await readShots(circuit, set);
  if (typeof shots === "string") return { outcomes: null, why: shots };
  const counts = new Map<string, number>();
  for (let shot = 0; shot < shots.count; shot++) {
    const key = shots.keyAt(shot);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (shot % AT_A_TIME === AT_A_TIME - 1) await pause();
  }
  const outcomes = [...counts].map(([key, count]): Outcome => [shots.toWord(key), count]);
  return { outcomes: sortByCount(outcomes) };
}

const known = new WeakMap<MeasuredCircuit, Map<number, Promise<Counted>>>();

/** The same promise each time, for `use`: what is shown beside the counts appears with them. */
export function countOnce(circuit: MeasuredCircuit, set: number): Promise<Counted> {
  const sets = known.get(circuit) ?? new Map<number, Promise<Counted>>();
  known.set(circuit, sets);
  const counted = sets.get(set) ?? countOutcomes(circuit, set);
  sets.set(set, counted);
  return counted;
}

/** Each shot of one set of parameters as a line, in its order. @throws Error where they cannot be read */
export async function listShots(circuit: MeasuredCircuit, set: number): Promise<string> {
  const shots = await readShots(circuit, set);
  if (typeof shots === "string") throw new Error(shots);
  const words = new Map<string, string>();
  const lines: string[] = [];
  for (let shot = 0; shot < shots.count; shot++) {
    const key = shots.keyAt(shot);
    const word = words.get(key) ?? shots.toWord(key);
    words.set(key, word);
    lines.push(word);
    if (shot % AT_A_TIME === AT_A_TIME - 1) await pause();
  }
  return `${lines.join("\n")}\n`;
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

interface Shots {
  readonly count: number;
  /** The bytes of a shot as the characters of a text: to be counted by. */
  readonly keyAt: (shot: number) => string;
  /** The bits that such a key stands for, a word for each register, the last one first. */
  readonly toWord: (key: string) => string;
}

/** A text: why they cannot be read. */
async function readShots({ registers, sets }: MeasuredCircuit, set: number): Promise<Shots | string> {
  const parts: { readonly bits: number; readonly width: number; readonly rows: Uint8Array }[] = [];
  let room = MOST_BYTES;
  for (const register of registers ?? []) {
    const width = Math.ceil(register.bits / 8);
    const bytes = await unpack(register, room);
    if (typeof bytes === "string") return bytes;
    room -= bytes.length;
    const each = bytes.length / sets;
    if (each % width !== 0) return UNREADABLE;
    parts.push({ bits: register.bits, width, rows: bytes.subarray(set * each, (set + 1) * each) });
  }
  const [count = 0, ...others] = parts.map(({ rows, width }) => rows.length / width);
  if (others.some((other) => other !== count)) return UNREADABLE;
  if (count > MOST_SHOTS) return TOO_MANY;
  return {
    count,
    keyAt: (shot) =>
      parts.reduce(
        (key, { rows, width }) =>
          key + String.fromCharCode(...rows.subarray(shot * width, (shot + 1) * width)),
        "",
      ),
    toWord: (key) => {
      let at = 0;
      const words = parts.map(({ bits, width }) => toBits(key.slice(at, (at += width)), bits));
      return words.toReversed().join(" ");
    },
  };
}

function toBits(key: string, bits: number): string {
  const word = Array.from({ length: key.length }, (_, at) =>
    key.charCodeAt(at).toString(2).padStart(8, "0"),
  ).join("");
  return word.slice(word.length - bits);
}

async function unpack({ samples }: Register, room: number): Promise<Uint8Array | string> {
  try {
    const packed = Uint8Array.from(atob(samples), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    for (const reader = stream.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > room) {
        await reader.cancel();
        return TOO_MANY;
      }
      chunks.push(value);
    }
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
  } catch {
    return UNREADABLE;
  }
}
