import { chmodSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { MINUTE } from "../../base/time.ts";
import type { DoorAttendant, DoorGuest } from "../../base/door.ts";

/** How many connections a door has, and how long. */
interface DoorLimits {
  /** Of all processes of a sandbox. Beyond it, the one that has been there longest of those that are idle is closed, else the new one. */
  readonly connections: number;
  /** A connection over which no byte has gone in either direction for so long is closed: longer than an answer is waited for. */
  readonly stillMs: number;
}

const LIMITS: DoorLimits = { connections: 512, stillMs: 2 * MINUTE };

/** A socket that any process of one sandbox may connect to, as long as the sandbox exists. */
export interface Door {
  /** Ends its connections as well. */
  readonly close: () => void;
}

/** Listens at `path`, below a folder that only the sandbox's uid can enter. Rejects when the system refuses the socket. */
export async function openDoor(path: string, attend: DoorAttendant, limits = LIMITS): Promise<Door> {
  const guests = new Map<Socket, DoorGuest>();
  const server = createServer((connection) => {
    connection.on("error", () => connection.destroy());
    if (guests.size >= limits.connections && !makeRoom(guests)) {
      connection.destroy();
      return;
    }
    const watch = closeWhenStill(connection, limits.stillMs);
    connection.once("close", () => {
      clearInterval(watch);
      guests.delete(connection);
    });
    guests.set(connection, attend(connection));
  });
  server.listen(path);
  await once(server, "listening");
  // Only the sandbox's uid can enter the folder; the socket itself must be writable for that uid.
  chmodSync(path, 0o666);
  return {
    close: () => {
      server.close();
      for (const connection of guests.keys()) connection.destroy();
    },
  };
}

/** One run must not keep others out by connections over which it asks for nothing. */
function makeRoom(guests: Map<Socket, DoorGuest>): boolean {
  for (const [connection, guest] of guests) {
    if (!guest.isIdle()) continue;
    guests.delete(connection);
    connection.destroy();
    return true;
  }
  return false;
}

/** Not by the timeout of the socket: servers for HTTP set that as they need it, and take it away. */
function closeWhenStill(connection: Socket, stillMs: number): NodeJS.Timeout {
  let before = -1;
  const look = (): void => {
    const moved = connection.bytesRead + connection.bytesWritten;
    if (moved === before) connection.destroy();
    before = moved;
  };
  return setInterval(look, stillMs).unref();
}
