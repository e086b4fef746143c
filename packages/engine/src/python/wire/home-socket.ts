import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { chmodSync, rmSync } from "node:fs";
import { once } from "node:events";
import { FRAME, HEADER_BYTES, encodeFrame, encodeHeader } from "./frames.ts";
import { createConnection } from "./connection.ts";
import type { Connection } from "./connection.ts";
import type { Paces } from "./pace.ts";

/** Hex digits of a single-use token: 128 random bits. */
export const TOKEN_LENGTH = 32;
const HELLO_BYTES = HEADER_BYTES + 1 + TOKEN_LENGTH;
const HELLO_DEADLINE_MS = 10_000;
const ADMIT = encodeFrame(FRAME.admit);
const CALL_HEADER = encodeHeader(FRAME.call, 4);
const CALL_BYTES = HEADER_BYTES + 4;
/** Of the reason why an import failed. It may come byte by byte, and is copied for each. */
const MAX_CAUSE_BYTES = 32 * 1024;
/** Maximum number of connections that have not identified themselves yet; above it the oldest is closed, as honest ones speak at once. */
const MAX_UNIDENTIFIED = 64;
/** Connections of strangers after which nobody is let in any more: a zygote of ours makes none, and each costs the event loop. */
const MAX_STRANGERS = 1000;

/** The three connections of one child. They belong to their receiver: nothing else closes them. */
export interface Connections {
  readonly control: Connection;
  readonly stdout: Connection;
  readonly stderr: Connection;
}

/** The socket that a zygote connects its children to. */
export interface HomeSocket {
  /** Accepts three connections with this token, each channel once. */
  readonly expect: (token: string, guest: Guest) => void;
  /** The child of a token is limited: it counts once it is ready. `told`: it waits for that. A child that is not admitted is never complete. */
  readonly admit: (token: string, child: "told" | "untold") => void;
  /** Closes the connections of a token that will not be completed. */
  readonly forget: (token: string) => void;
  /** Removes the path: from then on only who holds a descriptor of the socket can connect to it. */
  readonly hide: () => void;
  readonly close: () => void;
}

/** Who waits for a child. */
interface Guest {
  /** The child says which process it is, as its zygote numbers processes; once, and it may say anything. */
  readonly onCall: (number: number) => void;
  /** All connections are there, the child was admitted and has said that it is ready. `cause`: what it said with that; mostly nothing. */
  readonly onComplete: (connections: Connections, cause: Buffer) => void;
}

interface Expected extends Guest {
  /** `ready`: it is, but was not admitted yet. */
  stage: "waiting" | "admitted" | { readonly ready: () => void };
  /** What it said with the word that it is ready. */
  cause: Buffer;
  /** Those that have identified themselves. */
  readonly sockets: Map<Channel, Socket>;
  /** Those that count: the control connection only once the child is ready. */
  readonly connections: Map<Channel, Connection>;
}

type Channel = "c" | "o" | "e";

/** Listens at `path`, below a folder that only the sandbox's uid can enter. Rejects when the system refuses the socket. */
export async function openHomeSocket(path: string, paces: Paces): Promise<HomeSocket> {
  const guests = createGuests(paces);
  const unidentified = new Set<Socket>();
  let strangers = 0;
  // By default, a socket that has ended is shut down, and closed when that is done: a system call more for each.
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => greet(socket));
  // Only the sandbox's uid can enter the folder; the socket itself must be writable for that uid.
  server.listen(path);
  await once(server, "listening");
  chmodSync(path, 0o666);

  function greet(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    socket.once("end", () => socket.destroy());
    strangers += 1;
    if (strangers > MAX_STRANGERS) server.close();
    for (const oldest of unidentified) {
      if (unidentified.size < MAX_UNIDENTIFIED) break;
      unidentified.delete(oldest);
      oldest.destroy();
    }
    unidentified.add(socket);
    socket.setTimeout(HELLO_DEADLINE_MS, () => socket.destroy());
    socket.once("close", () => unidentified.delete(socket));
    readBytes(socket, HELLO_BYTES, Buffer.alloc(0), (hello, rest) => {
      socket.setTimeout(0);
      unidentified.delete(socket);
      if (guests.identify(socket, hello, rest)) strangers -= 1;
    });
  }

  return {
    expect: guests.expect,
    admit: guests.admit,
    forget: guests.forget,
    hide: () => rmSync(path, { force: true }),
    close: () => {
      guests.forgetAll();
      for (const socket of unidentified) socket.destroy();
      server.close();
    },
  };
}

/** The children that are expected, by their tokens, and what has come of them. */
interface Guests extends Pick<HomeSocket, "expect" | "admit" | "forget"> {
  /** Turns away whoever is not expected, and returns false; each channel of a child is taken once. */
  readonly identify: (socket: Socket, hello: Buffer, rest: Buffer) => boolean;
  readonly forgetAll: () => void;
}

function createGuests(paces: Paces): Guests {
  const expected = new Map<string, Expected>();

  function identify(socket: Socket, hello: Buffer, rest: Buffer): boolean {
    const token = hello.toString("latin1", HEADER_BYTES + 1);
    const entry = expected.get(token);
    const channel = readChannel(hello);
    if (entry === undefined || channel === null || entry.sockets.has(channel)) {
      socket.destroy();
      return false;
    }
    entry.sockets.set(channel, socket);
    if (channel !== "c") {
      count(token, channel, createConnection(socket, rest, paces.logs));
      return true;
    }
    readArrival(socket, rest, entry, (early) =>
      count(token, channel, createConnection(socket, early, paces.answers)),
    );
    return true;
  }

  function admit(token: string, child: "told" | "untold"): void {
    const entry = expected.get(token);
    if (entry === undefined || entry.stage === "admitted") return;
    const { stage } = entry;
    entry.stage = "admitted";
    if (child === "told") entry.sockets.get("c")?.write(ADMIT);
    if (stage !== "waiting") stage.ready();
  }

  function count(token: string, channel: Channel, connection: Connection): void {
    const entry = expected.get(token);
    if (entry === undefined) return connection.destroy();
    entry.connections.set(channel, connection);
    const [control, stdout, stderr] = (["c", "o", "e"] as const).map((name) => entry.connections.get(name));
    if (control === undefined || stdout === undefined || stderr === undefined) return;
    expected.delete(token);
    entry.onComplete({ control, stdout, stderr }, entry.cause);
  }

  function forget(token: string): void {
    const entry = expected.get(token);
    expected.delete(token);
    for (const connection of entry?.connections.values() ?? []) connection.destroy();
    for (const socket of entry?.sockets.values() ?? []) socket.destroy();
  }

  return {
    expect: (token, guest) => void expected.set(token, openEntry(guest)),
    admit,
    identify,
    forget,
    forgetAll: () => {
      for (const token of expected.keys()) forget(token);
    },
  };
}

function openEntry(guest: Guest): Expected {
  return { stage: "waiting", cause: Buffer.alloc(0), sockets: new Map(), connections: new Map(), ...guest };
}

/** What a child says first, on its control connection. Calls back when it has been admitted and is ready, with what it said after that. */
function readArrival(socket: Socket, rest: Buffer, entry: Expected, onArrive: (early: Buffer) => void): void {
  readBytes(socket, CALL_BYTES, rest, (call, more) => {
    if (call.subarray(0, HEADER_BYTES).equals(CALL_HEADER)) entry.onCall(call.readUInt32BE(HEADER_BYTES));
    else socket.destroy();
    readBytes(socket, HEADER_BYTES, more, (header, after) => {
      const size = header.readUInt32BE(0);
      if (header[4] !== FRAME.ready || size > MAX_CAUSE_BYTES) return socket.destroy();
      return readBytes(socket, size, after, (cause, early) => {
        entry.cause = cause;
        if (entry.stage === "admitted") onArrive(early);
        else entry.stage = { ready: () => onArrive(early) };
      });
    });
  });
}

/** Calls back with the first `size` bytes, and what came with them, then listens no more. @param early bytes that have come already */
function readBytes(
  socket: Socket,
  size: number,
  early: Buffer,
  onRead: (bytes: Buffer, rest: Buffer) => void,
): void {
  let received = early;
  function take(chunk: Buffer): void {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    if (received.length < size) return;
    socket.off("data", take);
    onRead(received.subarray(0, size), received.subarray(size));
  }
  socket.on("data", take);
  take(Buffer.alloc(0));
}

/** Null: it is no hello. */
function readChannel(hello: Buffer): Channel | null {
  if (hello.readUInt32BE(0) !== 1 + TOKEN_LENGTH || hello[4] !== FRAME.hello) return null;
  const name = hello.toString("latin1", HEADER_BYTES, HEADER_BYTES + 1);
  return name === "c" || name === "o" || name === "e" ? name : null;
}
