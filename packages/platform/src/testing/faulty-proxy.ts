import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/**
 * What a proxy does with new connections: passes them on, closes them, answers nothing, answers each request with 503 or 507 (full), closes
 * them when a second request comes (as servers do that count such a connection as idle), closes them after so many bytes of the answer or of the
 * request, passes on no more of the answer or of the request, or passes it on in pieces with pauses.
 */
export type ProxyFault =
  | "none"
  | "refuse"
  | "hang"
  | "fail"
  | "full"
  | "one request"
  | { readonly pauseMs: number }
  | { readonly cutAnswerAt: number }
  | { readonly stopAnswerAt: number }
  | { readonly cutRequestAt: number }
  | { readonly stopRequestAt: number };

/** A way to an HTTP server that can fail as networks and servers do. */
export interface FaultyProxy {
  readonly url: string;
  /** Sets the fault for connections that are made from now on, and closes those that are open. `times`: only for so many, then none. */
  readonly set: (fault: ProxyFault, times?: number) => void;
  /** Connections since the last `set`. */
  readonly countConnections: () => number;
  /** Connections since the last `set` that were cut or stopped. */
  readonly countBroken: () => number;
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
  let broken = 0;
  const server = createServer((socket) => {
    connections += 1;
    const { fault, times } = state;
    serve({
      socket: own(socket),
      fault: connections <= times ? fault : "none",
      open: () => own(connect(target)),
      onBreak: () => (broken += 1),
    });
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
      [connections, broken] = [0, 0];
      endAll();
    },
    countConnections: () => connections,
    countBroken: () => broken,
    countOpen: () => sockets.size,
    close: async () => {
      endAll();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

interface Served {
  readonly socket: Socket;
  readonly fault: ProxyFault;
  /** Connects to the server. */
  readonly open: () => Socket;
  readonly onBreak: () => void;
}

function serve({ socket, fault, open, onBreak }: Served): void {
  if (fault === "refuse") socket.destroy();
  else if (fault === "hang") socket.resume();
  // Only when the request has been read is the connection not reset.
  else if (fault === "fail" || fault === "full") {
    const answer = `HTTP/1.1 ${STATUS[fault]}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`;
    socket.once("data", () => socket.end(answer)).resume();
  } else join({ socket, upstream: open(), fault, onBreak });
}

interface Joined extends Pick<Served, "socket" | "onBreak"> {
  readonly upstream: Socket;
  readonly fault: Exclude<ProxyFault, keyof typeof STATUS | "refuse" | "hang">;
}

function join({ socket, upstream, fault, onBreak }: Joined): void {
  const end = () => {
    socket.destroy();
    upstream.destroy();
  };
  socket.on("close", end);
  upstream.on("close", end);
  const breakBy = (act: () => void) => () => {
    onBreak();
    act();
  };
  const cut = breakBy(end);
  // Before the chunk is passed on.
  if (fault === "one request") {
    let isAnswered = false;
    upstream.once("data", () => (isAnswered = true));
    socket.on("data", () => isAnswered && cut());
  } else if (fault !== "none") {
    if ("pauseMs" in fault) slowDown(upstream, fault.pauseMs);
    else if ("cutAnswerAt" in fault) actAt(upstream, fault.cutAnswerAt, cut);
    else if ("cutRequestAt" in fault) actAt(socket, fault.cutRequestAt, cut);
    else if ("stopAnswerAt" in fault)
      actAt(
        upstream,
        fault.stopAnswerAt,
        breakBy(() => upstream.unpipe(socket)),
      );
    else
      actAt(
        socket,
        fault.stopRequestAt,
        breakBy(() => socket.unpipe(upstream)),
      );
  }
  socket.pipe(upstream).pipe(socket);
}

/** A pause after each chunk. */
function slowDown(source: Socket, pauseMs: number): void {
  source.on("data", () => {
    source.pause();
    setTimeout(() => source.resume(), pauseMs);
  });
}

/** Acts whenever more than so many bytes have come. */
function actAt(source: Socket, bytes: number, act: () => void): void {
  let seen = 0;
  source.on("data", (chunk: Uint8Array) => {
    seen += chunk.length;
    if (seen > bytes) act();
  });
}
