import { chmodSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { MINUTE } from "../../base/time.ts";

/** Of all processes of a sandbox; those above it are closed at once. */
const MAX_CONNECTIONS = 64;
/** A connection over which nothing goes for so long is closed. */
const IDLE_MS = 5 * MINUTE;

/** A socket that any process of one sandbox may connect to, as long as the sandbox exists. */
export interface Door {
  /** Ends its connections as well. */
  readonly close: () => void;
}

/** Listens at `path`, below a folder that only the sandbox's uid can enter. Rejects when the system refuses the socket. */
export async function openDoor(path: string, keeper: (connection: Socket) => void): Promise<Door> {
  const connections = new Set<Socket>();
  const server = createServer((connection) => {
    connections.add(connection);
    connection.on("error", () => connection.destroy());
    connection.once("close", () => connections.delete(connection));
    connection.setTimeout(IDLE_MS, () => connection.destroy());
    keeper(connection);
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(path);
  await once(server, "listening");
  // Only the sandbox's uid can enter the folder; the socket itself must be writable for that uid.
  chmodSync(path, 0o666);
  return {
    close: () => {
      server.close();
      for (const connection of connections) connection.destroy();
    },
  };
}
