import { MAX_INPUT_DEPTH } from "@platform/contract/execution";
import { FIRST_STEP, STATE, STEP, TABLE, describeExpected } from "./grammar.ts";
import type { PointerTracker } from "./pointer-tracker.ts";
import { createUtf8Pieces } from "./utf8-pieces.ts";

const [CLOSE_ARRAY, CLOSE_OBJECT] = [0x5d, 0x7d];
const [QUOTE, BACKSLASH, FIRST_PRINTABLE] = [0x22, 0x5c, 0x20];
const BYTE_ORDER_MARK = 0xef;

/** The text is not one JSON object, or nested too deeply; the message says at which byte, counted from 0, for people. */
export class NoJsonObject extends Error {}

/** Checks a text that comes in chunks of any size, in a memory that does not grow with it. */
export interface JsonScanner {
  /** The bytes are not kept. @throws NoJsonObject; nothing may be called after that */
  readonly push: (chunk: Uint8Array) => void;
  /** @throws NoJsonObject where the object has no end */
  readonly end: () => void;
}

/** A place in the text. */
interface Place {
  state: number;
  depth: number;
  /** Of the containers around it, from 1 on: which byte closes them. */
  readonly closers: Uint8Array;
  /** Of this piece in the text. */
  offset: number;
  isInName: boolean;
  /** Where in this piece the name begins, or goes on. */
  nameAt: number;
  readonly tracker: PointerTracker | undefined;
}

/**
 * Takes what `JSON.parse` takes of UTF-8 without a byte order mark: one object, of at most `MAX_INPUT_DEPTH` levels. `tracker` is told where
 * containers and names are.
 */
export function createJsonScanner(tracker?: PointerTracker): JsonScanner {
  const place: Place = {
    state: STATE.start,
    depth: 0,
    closers: new Uint8Array(MAX_INPUT_DEPTH + 1),
    offset: 0,
    isInName: false,
    nameAt: 0,
    tracker,
  };
  const pieces = createUtf8Pieces((piece) => scan(place, piece));
  return {
    push: (chunk) => {
      if (!pieces.push(chunk)) refuse(place, 0, "not UTF-8");
    },
    end: () => {
      if (!pieces.isWhole()) refuse(place, 0, "not UTF-8");
      if (place.state !== STATE.end)
        refuse(place, 0, `the text ends here, expected ${describeExpected(place.state)}`);
    },
  };
}

function scan(place: Place, piece: Uint8Array): void {
  let { state } = place;
  place.nameAt = 0;
  for (let at = 0; at < piece.length; at += 1) {
    const next = TABLE[(state << 8) | (piece[at] ?? 0)] ?? STEP.refuse;
    if (next < FIRST_STEP) {
      state = next;
      continue;
    }
    place.state = state;
    step(place, next, piece, at);
    ({ state } = place);
    if (state === STATE.string) at = skipPlain(piece, at);
  }
  place.state = state;
  if (place.isInName) place.tracker?.addName(piece.subarray(place.nameAt));
  place.offset += piece.length;
}

function step(place: Place, next: number, piece: Uint8Array, at: number): void {
  if (next === STEP.closeString) closeString(place, piece, at);
  else if (next === STEP.comma) passComma(place);
  else if (next === STEP.openString) place.state = STATE.string;
  else if (next === STEP.openName) {
    place.state = STATE.string;
    place.isInName = true;
    place.nameAt = at + 1;
  } else if (next === STEP.close) close(place, piece[at], at);
  else if (next === STEP.refuse) refuse(place, at, describeFault(place, piece[at]));
  else open(place, at, next === STEP.openArray);
}

function open(place: Place, at: number, isArray: boolean): void {
  if (place.depth === MAX_INPUT_DEPTH) refuse(place, at, `nested deeper than ${MAX_INPUT_DEPTH} levels`);
  place.depth += 1;
  place.closers[place.depth] = isArray ? CLOSE_ARRAY : CLOSE_OBJECT;
  place.state = isArray ? STATE.firstItem : STATE.firstName;
  place.tracker?.open(place.offset + at, isArray);
}

function close(place: Place, byte: number | undefined, at: number): void {
  if (byte !== place.closers[place.depth]) refuse(place, at, `expected ${describeExpected(STATE.after)}`);
  place.tracker?.close(place.offset + at + 1, place.state === STATE.firstItem);
  place.depth -= 1;
  place.state = place.depth === 0 ? STATE.end : STATE.after;
}

function passComma(place: Place): void {
  place.state = place.closers[place.depth] === CLOSE_OBJECT ? STATE.name : STATE.value;
  place.tracker?.comma();
}

function closeString(place: Place, piece: Uint8Array, at: number): void {
  place.state = place.isInName ? STATE.colon : STATE.after;
  if (!place.isInName) return;
  place.tracker?.endName(piece.subarray(place.nameAt, at));
  place.isInName = false;
}

function describeFault({ state }: Place, byte: number | undefined): string {
  const isMark = state === STATE.start && byte === BYTE_ORDER_MARK;
  return `${isMark ? "a byte order mark is not allowed, " : ""}expected ${describeExpected(state)}`;
}

/** `at`: within the piece. */
function refuse({ offset }: Place, at: number, what: string): never {
  throw new NoJsonObject(`byte ${offset + at}: ${what}`);
}

/** The last of the bytes from `start` on that cannot end a string: twice as fast as the table where strings are long. */
function skipPlain(piece: Uint8Array, start: number): number {
  let at = start + 1;
  for (
    let byte = piece[at] ?? 0;
    byte !== QUOTE && byte !== BACKSLASH && byte >= FIRST_PRINTABLE;
    byte = piece[at] ?? 0
  )
    at += 1;
  return at - 1;
}
