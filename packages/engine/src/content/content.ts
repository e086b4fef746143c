import type { Readable } from "node:stream";
import type { ByteRange } from "../base/byte-range.ts";

/** Content that never changes. */
export interface StoredContent {
  /** SHA-256 of the bytes, 64 hexadecimal digits. */
  readonly hash: string;
  readonly bytes: number;
  /** Reads a part that is not empty. Rejects where the content cannot be read, with a `Problem` where the caller may know why. */
  readonly open: (range: ByteRange) => Promise<Readable>;
}
