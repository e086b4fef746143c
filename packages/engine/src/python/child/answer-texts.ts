import { isAscii } from "node:buffer";
import { MEGABYTE } from "../../base/bytes.ts";
import { scanObject } from "./json-scanner.ts";

/** The names in the metadata of what was measured, and of what was read by reference; like `_links`, no names that services choose. */
export const [MEASURED, READ] = ["_usage", "_inputs"] as const;

/** Largest metadata that are read, in bytes of JSON text: `METADATA_LIMIT` in `outcome.py`. */
export const MAX_METADATA_BYTES = MEGABYTE;

/** As in inputs, and as `_METADATA_DEPTH` in `outcome.py`: parsers of callers have a stack that ends. */
const METADATA_BOUNDS = { levels: 200, reserved: [MEASURED, READ] };

const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/** Whether it begins and ends as an object does, in the ASCII that the runner writes. What lies between is not looked at. */
export function isObjectText(payload: Buffer): boolean {
  const [first, last] = [payload[0], payload.at(-1)];
  return payload.length >= 2 && first === OPENING_BRACE && last === CLOSING_BRACE && isAscii(payload);
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
