import type { Socket } from "node:net";

/** What a child may send before anybody listens: a module that prints a lot at import must not block. */
const MAX_EARLY_BYTES = 1024 * 1024;

/** One of a child's three connections. Read from the first moment on; what came early is kept for who attaches. */
export interface Line {
  /** Takes over what was kept and all that follows; `onClose` is called once, also when it had closed already. */
  readonly attach: (onData: (chunk: Buffer) => void, onClose: () => void) => void;
  readonly write: (chunks: readonly Uint8Array[]) => void;
  readonly destroy: () => void;
}

export function createLine(socket: Socket, rest: Buffer): Line {
  let early: Buffer[] = rest.length > 0 ? [rest] : [];
  let earlyBytes = rest.length;
  let closed = false;
  let deliver = (chunk: Buffer): void => {
    earlyBytes += chunk.length;
    if (earlyBytes <= MAX_EARLY_BYTES) early.push(chunk);
  };
  let announce: (() => void) | null = null;

  socket.on("data", (chunk: Buffer) => deliver(chunk));
  socket.once("close", () => {
    closed = true;
    announce?.();
  });

  return {
    attach: (onData, onClose) => {
      for (const chunk of early) onData(chunk);
      early = [];
      deliver = onData;
      announce = onClose;
      if (closed) onClose();
    },
    write: (chunks) => {
      socket.cork();
      for (const chunk of chunks) socket.write(chunk);
      socket.uncork();
    },
    destroy: () => void socket.destroy(),
  };
}
