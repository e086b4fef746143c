/** Frames between Node and a child: 4-byte big-endian payload length, 1-byte type, payload. Samples: `packages/engine/wire`. */

/** Types of frames: up to 15 from Node to a child, except `hello`; from 16 on from a child to Node. */
export const FRAME = {
  hello: 1,
  request: 2,
  body: 3,
  start: 6,
  admit: 7,
  kept: 8,
  metadata: 16,
  result: 17,
  failure: 18,
  ready: 19,
  call: 20,
  file: 21,
  content: 22,
  omitted: 23,
  poolFile: 24,
  progress: 25,
  checkpoint: 26,
  handle: 27,
} as const;

/** Bytes of a frame before its payload. */
export const HEADER_BYTES = 5;

/** A whole frame. */
export interface Frame {
  readonly type: number;
  readonly payload: Buffer;
}

/**
 * A whole frame; or the header of one that comes in parts, and then the parts, together of that size; or a size that was refused before anything of
 * the payload was read: the stream is then unreadable. Null: more bytes are needed.
 */
export type DecodeStep =
  | { readonly frame: Frame }
  | { readonly begun: { readonly type: number; readonly size: number } }
  | { readonly part: Buffer; readonly isLast: boolean }
  | { readonly refused: { readonly type: number; readonly size: number } }
  | null;

/** Header of a frame; for large payloads header and payload are written one after the other, without a copy. */
export function encodeHeader(type: number, size: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32BE(size, 0);
  header[4] = type;
  return header;
}

/** Header and payload as one buffer; copies the payload. */
export function encodeFrame(type: number, payload: Uint8Array = new Uint8Array()): Buffer {
  return Buffer.concat([encodeHeader(type, payload.byteLength), payload]);
}

/** A payload that comes byte by byte must not become a list of a million buffers, nor be copied whole again and again. */
const MAX_PARTS = 1024;

/** Splits the bytes of one stream into frames. */
interface FrameDecoder {
  readonly push: (chunk: Buffer) => void;
  /** The next whole frame or part, a refusal (the stream cannot be read any further), or null when more bytes are needed. */
  readonly next: () => DecodeStep;
}

/**
 * @param limitOf largest payload in bytes that is accepted for a type; -1 for types that are never accepted
 * @param isInParts whether a frame of this type and size, which is not 0, comes in parts; default: none does
 */
export function createFrameDecoder(
  limitOf: (type: number) => number,
  isInParts: (type: number, size: number) => boolean = () => false,
): FrameDecoder {
  const buffer = createChunks();
  /** Bytes of a frame that comes in parts which have not come. */
  let missing = 0;

  function takePart(): DecodeStep {
    const part = buffer.takeSome(missing);
    if (part === null) return null;
    missing -= part.length;
    return { part, isLast: missing === 0 };
  }

  function next(): DecodeStep {
    if (missing > 0) return takePart();
    const header = buffer.peek(HEADER_BYTES);
    if (header === null) return null;
    const size = header.readUInt32BE(0);
    const type = header.readUInt8(4);
    if (size > limitOf(type)) return { refused: { type, size } };
    if (size > 0 && isInParts(type, size)) {
      buffer.takeSome(HEADER_BYTES);
      missing = size;
      return { begun: { type, size } };
    }
    const frame = buffer.take(HEADER_BYTES + size);
    return frame === null ? null : { frame: { type, payload: frame.subarray(HEADER_BYTES) } };
  }

  return { push: buffer.push, next };
}

/** Bytes in the chunks in which they came. */
interface Chunks {
  readonly push: (chunk: Buffer) => void;
  /** A buffer that begins with at least so many bytes, as they are without joining what is still growing; null: there are fewer. */
  readonly peek: (bytes: number) => Buffer | null;
  /** So many; null: there are fewer. */
  readonly take: (bytes: number) => Buffer | null;
  /** At most so many, not copied; null: there are none. */
  readonly takeSome: (bytes: number) => Buffer | null;
}

function createChunks(): Chunks {
  let chunks: Buffer[] = [];
  let buffered = 0;
  /** Number of chunks at the beginning of `chunks` that are already joined. */
  let pieces = 0;

  function joinAll(): Buffer {
    pieces = 0;
    const [only = Buffer.alloc(0), ...others] = chunks;
    chunks = [others.length === 0 ? only : Buffer.concat(chunks)];
    return chunks[0] ?? only;
  }

  return {
    push: (chunk) => {
      if (chunk.length === 0) return;
      chunks.push(chunk);
      buffered += chunk.length;
      if (chunks.length - pieces < MAX_PARTS) return;
      chunks.push(Buffer.concat(chunks.splice(pieces)));
      pieces += 1;
    },
    peek: (bytes) => {
      if (buffered < bytes) return null;
      const [first] = chunks;
      return first !== undefined && first.length >= bytes ? first : joinAll();
    },
    take: (bytes) => {
      if (buffered < bytes) return null;
      const joined = joinAll();
      const rest = joined.subarray(bytes);
      chunks = rest.length > 0 ? [rest] : [];
      buffered = rest.length;
      return joined.subarray(0, bytes);
    },
    takeSome: (bytes) => {
      const [first, ...others] = chunks;
      if (first === undefined) return null;
      const some = first.subarray(0, bytes);
      [pieces, buffered] = [0, buffered - some.length];
      chunks = first.length > bytes ? [first.subarray(bytes), ...others] : others;
      return some;
    },
  };
}
