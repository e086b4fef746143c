import { createServer, connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { SocketConnection } from "../postgres/server.ts";

/** A TCP way to the test server that can fall silent, as a network that drops packets without a word. */
export interface SilentProxy {
  readonly target: SocketConnection;
  /** Bytes are taken from both sides and not passed on; new connections are accepted and hear nothing. */
  readonly fallSilent: () => void;
  /** New connections work again; those of before stay silent for ever. */
  readonly recover: () => void;
  readonly close: () => Promise<void>;
}

export async function openSilentProxy(target: SocketConnection): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  const own = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  };
  let isSilent = false;
  const server = createServer((socket) => {
    own(socket);
    if (isSilent) return;
    const upstream = own(connect(`${target.host}/.s.PGSQL.${target.port}`));
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    target: { ...target, host: "127.0.0.1", port },
    fallSilent: () => {
      isSilent = true;
      for (const socket of sockets) socket.unpipe().resume();
    },
    recover: () => {
      isSilent = false;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
