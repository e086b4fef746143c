import type { Socket } from "node:net";
import { MEGABYTE } from "../../base/bytes.ts";
import { CHUNK_COST } from "./pace.ts";
import type { Pace } from "./pace.ts";
import { createPacedReader } from "./paced-reader.ts";
import type { Consumer } from "./paced-reader.ts";

/** Bytes of a child's output that are buffered before a consumer is attached: a module that prints a lot at import must not block. */
const MAX_EARLY_BYTES = MEGABYTE;
const MAX_EARLY_CHUNKS = 1024;
/** So little is written as one chunk: a copy of it costs less than a list for the system. */
const MAX_COPIED_BYTES = 16 * 1024;

/** One of a child's three connections. Read from the beginning; early data is buffered for the consumer that attaches. */
export interface Connection {
  /** Attaches a consumer of the buffered data and all that follows; `onClose` is called once, also when it has already closed. */
  readonly attach: (consumer: Consumer, onClose: () => void) => void;
  /** Offers data again that the consumer has not taken. */
  readonly wake: () => void;
  /** Whether the writer had to wait since the last call. */
  readonly hasWaited: () => boolean;
  readonly write: (chunks: readonly Uint8Array[]) => void;
  /** Closes the connection. Neither data nor `onClose` is passed on afterwards. */
  readonly destroy: () => void;
}

/** `rest`: bytes that were read from the socket together with the hello. */
export function createConnection(socket: Socket, rest: Buffer, pace: Pace): Connection {
  let early: Buffer[] = [];
  let earlyBytes = 0;

  function keep(chunk: Buffer): { readonly cost: number; readonly rest: null } {
    earlyBytes += chunk.length;
    if (earlyBytes <= MAX_EARLY_BYTES) early.push(chunk);
    if (early.length > MAX_EARLY_CHUNKS) early = [Buffer.concat(early)];
    return { cost: CHUNK_COST, rest: null };
  }

  const reader = createPacedReader(socket, pace, keep);
  if (rest.length > 0) keep(rest);

  return {
    attach: (consumer, onClose) => {
      reader.redirect(consumer, early, onClose);
      early = [];
    },
    wake: reader.wake,
    hasWaited: reader.hasWaited,
    write: (chunks) => {
      const isLittle = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0) <= MAX_COPIED_BYTES;
      socket.cork();
      for (const chunk of isLittle ? [Buffer.concat(chunks)] : chunks) socket.write(chunk);
      socket.uncork();
    },
    destroy: () => {
      reader.stop();
      socket.destroy();
    },
  };
}
