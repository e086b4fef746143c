import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { readMonotonic } from "../base/monotonic.ts";
import { SECOND } from "../base/time.ts";
import type { DoorGuest } from "../base/door.ts";

/*
 * What comes through one door: all runs of a sandbox share it, and the thread that answers them has others to answer. So a run has a number of requests
 * under way at most, by the token that it shows; a connection over which nothing is asked is closed; and requests of all of them together are answered
 * at a pace, behind which they wait. Tokens are not checked here: who shows another one with each request is refused by the platform API at once.
 */

/** Of one run at the same time; more are refused. */
const MOST_UNDER_WAY = 64;
/** Over one connection, before the first is answered: clients send the next one then. */
const MOST_PIPELINED = 8;
/** How long a connection may be open until the head of its next request is there. */
const HEAD_MS = 30 * SECOND;
/** Requests of a sandbox in the long run, and those of how much time at once: what a run asks in a loop keeps the thread busy for a part of it. */
const PER_SECOND = 200;
const BURST_MS = 2 * SECOND;

/** A request that is answered when it is its turn, unless its caller goes away before. */
interface Turn {
  readonly begin: (work: () => void) => void;
}

/** The connections of one door, and what is asked over them. */
export interface GuestBook {
  readonly welcome: (connection: Socket) => DoorGuest;
  /** `pipelined`: too many before it, over the same connection, were not answered. `too many`: of this run. */
  readonly ask: (request: IncomingMessage, response: ServerResponse) => Turn | "pipelined" | "too many";
}

interface Guest {
  asking: number;
  head: NodeJS.Timeout;
}

/** Nobody is there at first. `waitForTurn`: in how many milliseconds what comes now is to begin. `headMs`: see HEAD_MS. */
export function createGuestBook(waitForTurn = createPace(readMonotonic), headMs = HEAD_MS): GuestBook {
  const guests = new WeakMap<Socket, Guest>();
  const underWay = new Map<string, number>();
  return {
    welcome: (connection) => {
      const guest = { asking: 0, head: awaitHead(connection, headMs) };
      guests.set(connection, guest);
      connection.once("close", () => clearTimeout(guest.head));
      return { isIdle: () => guest.asking === 0 };
    },
    ask: (request, response) => {
      const { socket } = request;
      const guest = guests.get(socket);
      if (guest === undefined || guest.asking >= MOST_PIPELINED) return "pipelined";
      clearTimeout(guest.head);
      guest.asking += 1;
      const leave = count(underWay, nameRun(request));
      response.once("close", () => {
        leave();
        guest.asking -= 1;
        if (guest.asking === 0 && !socket.destroyed) guest.head = awaitHead(socket, headMs);
      });
      if (leave.own > MOST_UNDER_WAY) return "too many";
      return { begin: (work) => beginLater(response, waitForTurn(), work) };
    },
  };
}

function awaitHead(connection: Socket, headMs: number): NodeJS.Timeout {
  return setTimeout(() => connection.destroy(), headMs).unref();
}

/** One more of this name, until it is called; `own`: how many there are. */
function count(all: Map<string, number>, name: string): { readonly own: number; (): void } {
  const own = (all.get(name) ?? 0) + 1;
  all.set(name, own);
  const leave = (): void => {
    const left = (all.get(name) ?? 1) - 1;
    if (left > 0) all.set(name, left);
    else all.delete(name);
  };
  return Object.assign(leave, { own });
}

/** As what a run is known here: by what it shows. */
function nameRun({ headers }: IncomingMessage): string {
  return String(headers["x-auth-token"] ?? headers.authorization?.replace(/^bearer +/iu, "") ?? "");
}

function beginLater(response: ServerResponse, delayMs: number, work: () => void): void {
  if (delayMs === 0) return work();
  const timer = setTimeout(work, delayMs);
  response.once("close", () => clearTimeout(timer));
}

/** Delays in milliseconds: places in a line that moves on by itself. `now`: milliseconds on any clock. */
export function createPace(now: () => number): () => number {
  let free = now() - BURST_MS;
  return () => {
    const at = now();
    free = Math.max(free, at - BURST_MS) + SECOND / PER_SECOND;
    return Math.max(0, Math.ceil(free - at));
  };
}
