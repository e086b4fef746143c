import type { ByteRange } from "../base/byte-range.ts";
import type { JsonPointer } from "./pointer.ts";

/** Which file, and which part of it. */
export interface JsonQuestion {
  readonly path: string;
  /** Empty: the whole text. */
  readonly pointer: JsonPointer;
}

/**
 * Whether the text is one JSON object and has one at the pointer; `range` is where that one is. `detail`: what there is instead, and at
 * which byte, without a capital and a full stop.
 */
export type JsonForm =
  | { readonly form: "object"; readonly range: ByteRange }
  | { readonly form: "other"; readonly detail: string };
