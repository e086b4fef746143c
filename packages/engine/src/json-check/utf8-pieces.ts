import { isUtf8 } from "node:buffer";

/** The first byte of a character has two to four of its upper bits set, as many as the character has bytes; the others have one. */
const FIRST_OF_MANY = 0xc0;
const FIRST_OF_THREE = 0xe0;
const FIRST_OF_FOUR = 0xf0;
const BEYOND_ASCII = 0x80;
const LONGEST = 4;

/** Cuts a text between its characters, and no longer than its bytes are UTF-8. */
export interface Utf8Pieces {
  /** Gives what is whole to `take`, in order. Returns whether all was UTF-8; after false nothing may be pushed. */
  readonly push: (chunk: Uint8Array) => boolean;
  /** Whether the text ends with a whole character. */
  readonly isWhole: () => boolean;
}

/** `take` must not keep the bytes. A part of a character at the end of a chunk waits for the rest in the next one. */
export function createUtf8Pieces(take: (piece: Uint8Array) => void): Utf8Pieces {
  const begun = new Uint8Array(LONGEST);
  let length = 0;

  function takeText(bytes: Uint8Array): boolean {
    const end = isUtf8(bytes) ? bytes.length : findInvalid(bytes);
    take(bytes.subarray(0, end));
    return end === bytes.length;
  }

  function push(chunk: Uint8Array): boolean {
    let start = 0;
    if (length > 0) {
      start = Math.min(countBytes(begun[0] ?? 0) - length, chunk.length);
      begun.set(chunk.subarray(0, start), length);
      length += start;
      if (length < countBytes(begun[0] ?? 0)) return true;
      if (!takeText(begun.subarray(0, length))) return false;
      length = 0;
    }
    const end = findLastWhole(chunk, start);
    if (!takeText(chunk.subarray(start, end))) return false;
    begun.set(chunk.subarray(end));
    length = chunk.length - end;
    return true;
  }

  return { push, isWhole: () => length === 0 };
}

function countBytes(first: number): number {
  if (first >= FIRST_OF_FOUR) return 4;
  return first >= FIRST_OF_THREE ? 3 : 2;
}

/** Where a character begins that the bytes do not end; their length where there is none. */
function findLastWhole(bytes: Uint8Array, start: number): number {
  for (let at = bytes.length - 1; at >= Math.max(start, bytes.length - LONGEST + 1); at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= FIRST_OF_MANY) return at + countBytes(byte) > bytes.length ? at : bytes.length;
    if (byte < BEYOND_ASCII) break;
  }
  return bytes.length;
}

/** Where the first character begins that is none. */
function findInvalid(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const first = bytes[at] ?? 0;
    const next = first < BEYOND_ASCII ? at + 1 : at + countBytes(first);
    if (!isUtf8(bytes.subarray(at, next))) return at;
    at = next;
  }
  return at;
}
