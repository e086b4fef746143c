import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { ByteRange } from "../base/byte-range.ts";
import type { ContentName, ResultStore } from "../content/result-store.ts";
import type { ResultFrame } from "./presenters.ts";

/** The body of a result that is not in memory: a few bytes of the platform, the content, and a few bytes again. */
export interface FramedContent {
  readonly bytes: number;
  /** Changes with any byte of it. */
  readonly tag: string;
  readonly open: (range: ByteRange) => Promise<Readable>;
}

/** One of the three, as a part of the body. */
interface Piece {
  readonly bytes: number;
  readonly open: (range: ByteRange) => Promise<Readable> | readonly Uint8Array[];
}

/** Reads nothing before it is opened. */
export function frameResult(
  results: Pick<ResultStore, "read">,
  { hash, bytes }: ContentName,
  { head, tail, isFlat }: ResultFrame,
): FramedContent {
  const brace = isFlat ? 1 : 0;
  const pieces: readonly Piece[] = [
    toPiece(head),
    {
      bytes: bytes - 2 * brace,
      open: ({ start, end }) => results.read(hash, { start: start + brace, end: end + brace }),
    },
    toPiece(tail),
  ];
  const tag = createHash("sha256").update(head).update(hash).update(tail).digest("base64url").slice(0, 22);
  return {
    bytes: pieces.reduce((sum, piece) => sum + piece.bytes, 0),
    tag,
    open: async (range) => {
      const parts = findParts(pieces, range);
      // The content is opened now: a store that does not answer is a refusal.
      const opened = await Promise.all(parts.map(async ({ piece, part }) => piece.open(part)));
      return Readable.from(join(opened), { objectMode: false });
    },
  };
}

function toPiece(text: Uint8Array): Piece {
  return { bytes: text.byteLength, open: ({ start, end }) => [text.subarray(start, end)] };
}

/** The pieces that a range of the whole touches, and what of each; none is empty. */
function findParts(
  pieces: readonly Piece[],
  range: ByteRange,
): readonly { readonly piece: Piece; readonly part: ByteRange }[] {
  let offset = 0;
  return pieces.flatMap((piece) => {
    const part = {
      start: Math.max(0, range.start - offset),
      end: Math.min(piece.bytes, range.end - offset),
    };
    offset += piece.bytes;
    return part.start < part.end ? [{ piece, part }] : [];
  });
}

async function* join(opened: readonly (Readable | readonly Uint8Array[])[]): AsyncGenerator<Uint8Array> {
  try {
    for (const content of opened) yield* content;
  } finally {
    // One that was not reached is closed, too.
    for (const content of opened) if (content instanceof Readable) content.destroy();
  }
}
