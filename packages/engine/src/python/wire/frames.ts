/** Frames between Node and a child: 4-byte big-endian payload length, 1-byte type, payload. Samples: `packages/engine/wire`. */

/** Types of frames: up to 15 from Node to a child, except `hello`; from 16 on from a child to Node. */
export const FRAME = {
  hello: 1,
  request: 2,
  body: 3,
  start: 6,
  admit: 7,
  metadata: 16,
  result: 17,
  failure: 18,
  ready: 19,
  call: 20,
} as const;

/** Bytes of a frame before its payload. */
export const HEADER_BYTES = 5;

/** A whole frame. */
export interface Frame {
  readonly type: number;
  readonly payload: Buffer;
}

/** A whole frame, or a size that was refused before anything of the payload was read: the stream is then unreadable. Null: more bytes are needed. */
export type DecodeStep =
  | { readonly frame: Frame }
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
  /** The next whole frame, a refusal (the stream cannot be read any further), or null when more bytes are needed. */
  readonly next: () => DecodeStep;
}

/** @param limitOf largest payload in bytes that is accepted for a type; -1 for types that are never accepted */
export function createFrameDecoder(limitOf: (type: number) => number): FrameDecoder {
  let chunks: Buffer[] = [];
  let buffered = 0;
  /** Number of chunks at the beginning of `chunks` that are already joined. */
  let pieces = 0;

  function joinChunks(): Buffer {
    pieces = 0;
    const joined = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    chunks = [joined];
    return joined;
  }

  /** Reads the header without joining a payload that is still growing. */
  function readHeader(): Buffer {
    const first = chunks[0];
    return first !== undefined && first.length >= HEADER_BYTES ? first : joinChunks();
  }

  function next(): DecodeStep {
    if (buffered < HEADER_BYTES) return null;
    const header = readHeader();
    const size = header.readUInt32BE(0);
    const type = header.readUInt8(4);
    if (size > limitOf(type)) return { refused: { type, size } };
    const end = HEADER_BYTES + size;
    if (buffered < end) return null;
    const joined = joinChunks();
    const rest = joined.subarray(end);
    chunks = rest.length > 0 ? [rest] : [];
    buffered = rest.length;
    return { frame: { type, payload: joined.subarray(HEADER_BYTES, end) } };
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
    next,
  };
}
