import type { Readable } from "node:stream";
import type { ByteRange } from "../base/byte-range.ts";

/** Names content that is kept. */
export interface ContentName {
  /** SHA-256 in hex. */
  readonly hash: string;
  readonly bytes: number;
}

/** What an execution returned that is too large for a row. */
export interface StoredOutput {
  /** Null: it is in the row. */
  readonly result: ContentName | null;
  readonly files: readonly StoredFile[];
}

/** A file of a result. */
export interface StoredFile extends ContentName {
  readonly name: string;
}

/** Content in a file of this machine that is not kept yet. */
export interface ReceivedContent extends ContentName {
  readonly path: string;
  /**
   * Keeps it under its name, durably when this resolves. The row that names it is written within a day; without one it is removed.
   *
   * @throws Problem UNAVAILABLE where another try may succeed
   */
  readonly keep: () => Promise<void>;
  /** Removes the file; what was kept stays. */
  readonly drop: () => Promise<void>;
}

/** Keeps results that are too large for a message. It may be used by other machines than the one that received them. Two adapters. */
export interface ResultStore {
  /**
   * Writes content of at most `limit` bytes to a file. Nothing is left where it fails, or where `content` does.
   *
   * @throws ContentNotStored where its message may be shown to callers
   */
  readonly receive: (content: Readable, limit: number) => Promise<ReceivedContent>;
  /** A part that is not empty. @throws Problem UNAVAILABLE, RESULT_EXPIRED */
  readonly read: (hash: string, range: ByteRange) => Promise<Readable>;
}

/** Content was not stored; the message says why, as a sentence for callers. */
export class ContentNotStored extends Error {}
