import type { ByteRange } from "../base/byte-range.ts";
import type { JsonPointer } from "./pointer.ts";

/** Finds the value at a pointer while a scanner reads the text. Places are bytes from the beginning of the text. */
export interface PointerTracker {
  readonly open: (at: number, isArray: boolean) => void;
  /** `isEmpty`: the container is an array without an item. */
  readonly close: (end: number, isEmpty: boolean) => void;
  readonly comma: () => void;
  /** A name goes on in the next piece. */
  readonly addName: (part: Uint8Array) => void;
  readonly endName: (part: Uint8Array) => void;
  /** After the end: the object at the pointer, or what there is instead, for people. */
  readonly finish: () => ByteRange | { readonly fault: string };
}

/** An escape has six bytes for a unit of UTF-16, more than any other spelling. */
const LONGEST_UNIT = 6;
const INDEX = /^(?:0|[1-9]\d{0,14})$/;
const NO_ITEM = -1;

/**
 * How far the way to the value has come. "On the way" are the containers that lead to it, from the outermost one on, and then the value itself:
 * the container with number n has the member that part n names. All others are passed over.
 */
interface Way {
  readonly pointer: JsonPointer;
  depth: number;
  /** How many of the containers around this place are on the way. */
  length: number;
  /** Whether the value that begins here is on the way. */
  isNamed: boolean;
  found: "nothing" | "other" | ByteRange;
  /** Number of this item of the innermost container on the way; `NO_ITEM` in objects, and behind the item that was looked for. */
  item: number;
  index: number;
  name: Name;
}

/** Of members of one name the last counts, as for most parsers. A part of digits is a name in an object and a number in an array. */
export function createPointerTracker(pointer: JsonPointer): PointerTracker {
  const way: Way = {
    pointer,
    depth: 0,
    length: 0,
    isNamed: true,
    found: "nothing",
    item: NO_ITEM,
    index: NO_ITEM,
    name: createName(""),
  };
  return {
    open: (at, isArray) => {
      const isEntered = isWatched(way) && way.isNamed;
      way.depth += 1;
      if (isEntered) enter(way, at, isArray);
    },
    close: (end, isEmpty) => {
      way.depth -= 1;
      if (way.depth < way.length) leave(way, end, isEmpty);
    },
    comma: () => {
      if (isWatched(way)) passComma(way);
    },
    addName: (part) => {
      if (isWatched(way)) way.name.add(part);
    },
    endName: (part) => {
      if (!isWatched(way)) return;
      way.isNamed = way.name.end(part);
      if (way.isNamed) way.found = "nothing";
    },
    finish: () => {
      if (typeof way.found === "object") return way.found;
      return {
        fault: way.found === "other" ? "the value there is no object" : "there is no value there",
      };
    },
  };
}

/** Whether members of the container around this place matter. */
function isWatched({ depth, length, pointer }: Way): boolean {
  return depth === length && length <= pointer.length;
}

function enter(way: Way, at: number, isArray: boolean): void {
  way.length += 1;
  if (way.length > way.pointer.length) way.found = isArray ? "other" : { start: at, end: at };
  watch(way, isArray ? 0 : NO_ITEM);
}

function leave(way: Way, end: number, isEmpty: boolean): void {
  if (way.length <= way.pointer.length) {
    if (!isEmpty) endValue(way);
  } else if (typeof way.found === "object") way.found = { start: way.found.start, end };
  way.length -= 1;
  watch(way, NO_ITEM);
}

function watch(way: Way, firstItem: number): void {
  const part = way.pointer[way.length - 1] ?? "";
  way.name = createName(part);
  way.item = firstItem;
  way.index = INDEX.test(part) ? Number(part) : NO_ITEM;
  way.isNamed = firstItem !== NO_ITEM && firstItem === way.index;
}

function passComma(way: Way): void {
  endValue(way);
  if (way.item === NO_ITEM) return;
  way.item += 1;
  way.isNamed = way.item === way.index;
}

/** After a value on the way that was no container: the pointer may lead to it, but not on. */
function endValue(way: Way): void {
  if (way.isNamed && way.length === way.pointer.length) way.found = "other";
  way.isNamed = false;
}

interface Name {
  readonly add: (part: Uint8Array) => void;
  readonly end: (part: Uint8Array) => boolean;
}

/** Compares names in any spelling, which come in parts, with one name. What is too long for it is not kept. */
function createName(wanted: string): Name {
  let spelling = "";
  let bytes = 0;
  const add = (part: Uint8Array): void => {
    bytes += part.length;
    if (bytes <= wanted.length * LONGEST_UNIT)
      spelling += Buffer.from(part.buffer, part.byteOffset, part.length).toString();
  };
  return {
    add,
    end: (part) => {
      add(part);
      const isPossible = bytes >= wanted.length && bytes <= wanted.length * LONGEST_UNIT;
      const isSame = isPossible && JSON.parse(`"${spelling}"`) === wanted;
      spelling = "";
      bytes = 0;
      return isSame;
    },
  };
}
