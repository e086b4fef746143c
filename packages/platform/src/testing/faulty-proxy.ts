import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/**
 * What a proxy does with new connections: passes them on, closes them, answers nothing, answers each request with 503 or 507 (full), closes
 * them after so many bytes of the answer or of the request, or passes on no more of the answer.
 */
export type ProxyFault =
  | "none"
  | "refuse"
  | "hang"
  | "fail"
  | "full"
  | { readonly cutAnswerAt: number }
  | { readonly stopAnswerAt: number }
  | { readonly cutRequestAt: number };

/** A way to an HTTP server that can fail as networks and servers do. */
export interface FaultyProxy {
  readonly url: string;
  /** Sets the fault for connections that are made from now on, and closes those that are open. `times`: only for so many, then none. */
  readonly set: (fault: ProxyFault, times?: number) => void;
  /** Connections since the last `set`. */
  readonly countConnections: () => number;
  /** Connections that are open, on both sides. */
  readonly countOpen: () => number;
  readonly close: () => Promise<void>;
}

const STATUS = { fail: "503 Service Unavailable", full: "507 Insufficient Storage" };

/** `target`: path of the server's socket. */
export async function openFaultyProxy(target: string): Promise<FaultyProxy> {
  const sockets = new Set<Socket>();
  const own = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  };
  let state: { readonly fault: ProxyFault; readonly times: number } = { fault: "none", times: 0 };
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const { fault, times } = state;
    serve(own(socket), connections <= times ? fault : "none", () => own(connect(target)));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const endAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (fault, times = Infinity) => {
      state = { fault, times };
      connections = 0;
      endAll();
    },
    countConnections: () => connections,
    countOpen: () => sockets.size,
    close: async () => {
      endAll();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

function serve(socket: Socket, fault: ProxyFault, open: () => Socket): void {
  if (fault === "refuse") socket.destroy();
  else if (fault === "hang") socket.resume();
  // Only when the request has been read is the connection not reset.
  else if (fault === "fail" || fault === "full") {
    const answer = `HTTP/1.1 ${STATUS[fault]}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`;
    socket.once("data", () => socket.end(answer)).resume();
  } else join(socket, open(), fault);
}

function join(
  socket: Socket,
  upstream: Socket,
  fault: Exclude<ProxyFault, "refuse" | "hang" | "fail" | "full">,
): void {
  const end = () => {
    socket.destroy();
    upstream.destroy();
  };
  socket.on("close", end);
  upstream.on("close", end);
  // Before the chunk is passed on.
  if (fault !== "none") {
    if ("cutAnswerAt" in fault) actAt(upstream, fault.cutAnswerAt, end);
    else if ("cutRequestAt" in fault) actAt(socket, fault.cutRequestAt, end);
    else actAt(upstream, fault.stopAnswerAt, () => upstream.unpipe(socket));
  }
  socket.pipe(upstream).pipe(socket);
}

/** Acts whenever more than so many bytes have come. */
function actAt(source: Socket, bytes: number, act: () => void): void {
  let seen = 0;
  source.on("data", (chunk: Uint8Array) => {
    seen += chunk.length;
    if (seen > bytes) act();
  });
}
