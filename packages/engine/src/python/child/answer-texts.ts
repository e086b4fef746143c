import { isAscii } from "node:buffer";
import { MEGABYTE } from "../../base/bytes.ts";
import { MEASURED, OMITTED, PERSISTED, READ } from "../port/run-output.ts";
import { scanObject } from "./json-scanner.ts";

/** Largest metadata that are read, in bytes of JSON text: `METADATA_LIMIT` in `outcome.py`. */
export const MAX_METADATA_BYTES = MEGABYTE;

/** As in inputs, and as `_METADATA_DEPTH` in `outcome.py`: parsers of callers have a stack that ends. */
const METADATA_BOUNDS = { levels: 200, reserved: [MEASURED, READ, PERSISTED, OMITTED] };

const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;
const OPENING = Buffer.from('{"');

/** Whether it begins and ends as an object does, in the ASCII that the runner writes. What lies between is not looked at. */
export function isObjectText(payload: Buffer): boolean {
  const [first, last] = [payload[0], payload.at(-1)];
  return payload.length >= 2 && first === OPENING_BRACE && last === CLOSING_BRACE && isAscii(payload);
}

/** The same of a text that comes in parts, none of them empty; its first member follows the brace, as the runner writes it. */
export function createFormCheck(): {
  readonly look: (part: Buffer) => void;
  readonly isObject: () => boolean;
} {
  let head = Buffer.alloc(0);
  let last: number | undefined;
  let isText = true;
  return {
    look: (part) => {
      if (head.length < OPENING.length)
        head = Buffer.concat([head, part.subarray(0, OPENING.length - head.length)]);
      last = part.at(-1);
      isText &&= isAscii(part);
    },
    isObject: () => isText && head.equals(OPENING) && last === CLOSING_BRACE,
  };
}

/**
 * Metadata as they may be stored, and shown to callers as they are: the JSON text of an object without the values that only the platform
 * measures. Null for what the runner does not send, so that user code has written it.
 *
 * They are not parsed and written anew: numbers would change that JavaScript has no room for, such as times in nanoseconds.
 */
export function readMetadata(payload: Buffer): Buffer | null {
  return scanObject(payload, METADATA_BOUNDS) ? payload : null;
}
