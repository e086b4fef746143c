import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { chmodSync } from "node:fs";
import { once } from "node:events";
import { FRAME, HEADER_BYTES } from "./frames.ts";
import { createConnection } from "./connection.ts";
import type { Connection } from "./connection.ts";
import type { Paces } from "./pace.ts";

/** Hex digits of a single-use token: 128 random bits. */
export const TOKEN_LENGTH = 32;
const HELLO_BYTES = HEADER_BYTES + 1 + TOKEN_LENGTH;
const HELLO_DEADLINE_MS = 10_000;
/** Maximum number of connections that have not identified themselves yet: a hostile child may open any number. */
const MAX_UNIDENTIFIED = 64;

/** The three connections of one child. They belong to their receiver: nothing else closes them. */
export interface Connections {
  readonly control: Connection;
  readonly stdout: Connection;
  readonly stderr: Connection;
}

/** The socket that the children of one zygote connect to. */
export interface HomeSocket {
  /** Accepts three connections with this token, each channel once; calls back when the last has come. */
  readonly expect: (token: string, onComplete: (connections: Connections) => void) => void;
  /** Closes the connections of a token that will not be completed. */
  readonly forget: (token: string) => void;
  readonly close: () => void;
}

interface Expected {
  readonly connections: Map<string, Connection>;
  readonly onComplete: (connections: Connections) => void;
}

/** Listens at `path`, below a folder that only the sandbox's uid can enter. Rejects when the system refuses the socket. */
export async function openHomeSocket(path: string, paces: Paces): Promise<HomeSocket> {
  const expected = new Map<string, Expected>();
  const unidentified = new Set<Socket>();
  const server: Server = createServer((socket) => greet(socket));
  // Only the sandbox's uid can enter the folder; the socket itself must be writable for that uid.
  server.listen(path);
  await once(server, "listening");
  chmodSync(path, 0o666);

  function greet(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    if (unidentified.size >= MAX_UNIDENTIFIED) return void socket.destroy();
    unidentified.add(socket);
    let received: Buffer = Buffer.alloc(0);
    socket.setTimeout(HELLO_DEADLINE_MS, () => socket.destroy());
    socket.once("close", () => unidentified.delete(socket));
    socket.on("data", function listen(chunk: Buffer) {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      if (received.length < HELLO_BYTES) return;
      socket.off("data", listen);
      socket.setTimeout(0);
      unidentified.delete(socket);
      if (!admit(expected, paces, socket, received)) socket.destroy();
    });
  }

  function forget(token: string): void {
    const entry = expected.get(token);
    expected.delete(token);
    for (const connection of entry?.connections.values() ?? []) connection.destroy();
  }

  return {
    expect: (token, onComplete) => {
      expected.set(token, { connections: new Map(), onComplete });
    },
    forget,
    close: () => {
      for (const token of expected.keys()) forget(token);
      for (const socket of unidentified) socket.destroy();
      server.close();
    },
  };
}

/** Whether the hello is that of a child which is expected; one of its three connections, once each. */
function admit(expected: Map<string, Expected>, paces: Paces, socket: Socket, received: Buffer): boolean {
  const isHello = received.readUInt32BE(0) === 1 + TOKEN_LENGTH && received[4] === FRAME.hello;
  const channel = received.toString("latin1", HEADER_BYTES, HEADER_BYTES + 1);
  const token = received.toString("latin1", HEADER_BYTES + 1, HELLO_BYTES);
  const entry = expected.get(token);
  if (!isHello || entry === undefined || entry.connections.has(channel)) return false;
  if (channel !== "c" && channel !== "o" && channel !== "e") return false;
  const pace = channel === "c" ? paces.answers : paces.logs;
  entry.connections.set(channel, createConnection(socket, received.subarray(HELLO_BYTES), pace));
  const [control, stdout, stderr] = ["c", "o", "e"].map((name) => entry.connections.get(name));
  if (control !== undefined && stdout !== undefined && stderr !== undefined) {
    expected.delete(token);
    entry.onComplete({ control, stdout, stderr });
  }
  return true;
}
