import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { SECOND, MINUTE } from "../base/time.ts";

/** How long a client may take to send a request, in milliseconds. */
export interface RequestTimes {
  /** For the head. */
  readonly headMs: number;
  /** For a body that is not an upload. */
  readonly bodyMs: number;
  /** For an upload, between two chunks: it may take longer as long as data arrives. */
  readonly uploadIdleMs: number;
  /** For an upload in all: 256 MB at 0.6 Mbit/s. */
  readonly uploadMs: number;
}

/** The times of every server that does not set its own. */
export const REQUEST_TIMES: RequestTimes = {
  headMs: 60 * SECOND,
  bodyMs: 120 * SECOND,
  uploadIdleMs: 60 * SECOND,
  uploadMs: 60 * MINUTE,
};

/** What gives a request with a body the times of an upload. */
const extensions = new WeakMap<IncomingMessage, () => void>();

/**
 * Ends requests whose body does not arrive. Node's `requestTimeout` applies to all routes alike, and would end every upload
 * that takes longer than a JSON body may. A request is an upload from `allowUpload` on; one that was already answered (because it was refused) has no more time than others.
 */
export function limitBodies(
  server: Server,
  times: RequestTimes,
  end: (socket: Socket, response: ServerResponse) => void,
): void {
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    if (!hasBody(request)) return;
    const timers = new Set<NodeJS.Timeout>();
    const cut = () => {
      stop();
      end(request.socket, response);
    };
    const stop = () => {
      for (const timer of timers) clearInterval(timer);
    };
    request.once("end", stop).once("close", stop);
    const cutWithin = (milliseconds: number) => timers.add(setTimeout(cut, milliseconds));
    cutWithin(times.bodyMs);
    extensions.set(request, () => {
      stop();
      cutWithin(times.uploadMs).add(cutWhenIdle(request, times.uploadIdleMs, cut));
      response.once("finish", () => {
        if (!request.complete) cutWithin(times.bodyMs);
      });
    });
  });
}

/** Gives the request the times of an upload: for rows whose bodies are large, when it was admitted. */
export function allowUpload(request: IncomingMessage): void {
  extensions.get(request)?.();
}

function cutWhenIdle({ socket }: IncomingMessage, idleMs: number, cut: () => void): NodeJS.Timeout {
  let before = socket.bytesRead;
  return setInterval(() => {
    if (socket.bytesRead === before) cut();
    before = socket.bytesRead;
  }, idleMs);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? "0") > 0;
}
