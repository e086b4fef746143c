import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "../base/monotonic.ts";
import { SECOND } from "../base/time.ts";

/** What a row with the answer mode `events` answers. */
export interface SentEvents<C = unknown> {
  /** Text of server-sent events. The first is waited for before the head of the answer, so that its error is an answer of its own. */
  readonly events: AsyncIterator<Uint8Array | string>;
  /** Ends it: with an event that says why, where there is a problem. */
  readonly stop: (problem: Problem | null) => void;
  /** Whether the caller, as of now, may go on reading. @throws Problem */
  readonly requireStill?: (caller: C) => void;
}

/** Times of streams, in milliseconds. */
export interface StreamTimes {
  /** A comment after so long without an event: proxies close what is silent. */
  readonly heartbeatMs: number;
  /** Who has taken nothing for so long is disconnected. */
  readonly unreadMs: number;
  /** How often it is asked whether the caller may go on. */
  readonly checkMs: number;
}

/** Default times. */
export const STREAM_TIMES: StreamTimes = {
  heartbeatMs: 15 * SECOND,
  unreadMs: 60 * SECOND,
  checkMs: 2 * SECOND,
};

/** One event. `data`: JSON text. */
export function renderEvent(event: string, data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** What the caller is told whose stream ends before its time. */
export function renderClosed({ code, message }: Problem): string {
  return renderEvent("closed", JSON.stringify({ code, detail: message }));
}

/** The same iterator with rendered events. */
export function mapEvents<T>(
  events: AsyncGenerator<T, void>,
  render: (event: T) => Uint8Array | string,
): AsyncIterator<Uint8Array | string> {
  const map = (result: IteratorResult<T, void>): IteratorResult<Uint8Array | string> =>
    result.done === true ? { done: true, value: undefined } : { done: false, value: render(result.value) };
  return {
    next: async () => map(await events.next()),
    return: async () => map(await events.return()),
  };
}

const EVENT_ID = /^[\w.:-]{1,200}$/;

/** The Last-Event-ID of a request; undefined: it begins. @throws Problem INVALID_INPUT */
export function readLastEventId(request: FastifyRequest): string | undefined {
  const id = request.headers["last-event-id"];
  // What a browser sends that has not received an id yet.
  if (id === undefined || id === "") return undefined;
  if (typeof id === "string" && EVENT_ID.test(id)) return id;
  throw new Problem("INVALID_INPUT", "The Last-Event-ID header is none of the ids of this stream.");
}

/** One open stream. */
interface OpenStream {
  readonly raw: ServerResponse;
  readonly stop: (problem: Problem | null) => void;
  readonly requireStill: () => Promise<void>;
  writtenAt: number;
  checkedAt: number;
  /** Since when the caller has not taken what was sent; null: all is taken. */
  unreadSince: number | null;
}

/** Looks after the open streams of a server, with one timer for all of them. */
export interface StreamKeeper {
  readonly add: (stream: OpenStream) => void;
  readonly remove: (stream: OpenStream) => void;
  /** Ends all streams; those that nobody reads are cut off. */
  readonly close: () => void;
}

const TICKS = 5;

/** Has no timer while no stream is open. */
export function createStreamKeeper(times: StreamTimes): StreamKeeper {
  const streams = new Set<OpenStream>();
  const everyMs = Math.min(times.checkMs, times.heartbeatMs, times.unreadMs) / TICKS;
  let timer: NodeJS.Timeout | null = null;
  const remove = (stream: OpenStream) => {
    streams.delete(stream);
    if (streams.size > 0) return;
    clearInterval(timer ?? undefined);
    timer = null;
  };
  return {
    add: (stream) => {
      streams.add(stream);
      timer ??= setInterval(() => {
        const now = readMonotonic();
        for (const open of streams) keep(open, times, now);
      }, everyMs);
    },
    remove,
    close: () => {
      for (const stream of streams) {
        stream.stop(new Problem("UNAVAILABLE", "The server stops. Connect again to go on."));
        if (stream.unreadSince !== null) stream.raw.destroy();
      }
    },
  };
}

function keep(stream: OpenStream, times: StreamTimes, now: number): void {
  const { raw, unreadSince } = stream;
  if (unreadSince !== null && now - unreadSince >= times.unreadMs) return void raw.destroy();
  if (unreadSince === null && !raw.writableEnded && now - stream.writtenAt >= times.heartbeatMs)
    write(stream, ":\n\n");
  if (now - stream.checkedAt < times.checkMs) return;
  stream.checkedAt = now;
  stream.requireStill().catch((error: unknown) => {
    // A fault of ours does not end what was allowed.
    if (error instanceof Problem && error.status < 500) stream.stop(error);
  });
}

function write(stream: OpenStream, text: Uint8Array | string): boolean {
  stream.writtenAt = readMonotonic();
  if (stream.raw.write(text)) return true;
  stream.unreadSince ??= readMonotonic();
  return false;
}

/** Intermediaries neither keep nor collect events. The connection ends with the stream: kept alive, it would hold up a server that stops. */
const HEADERS = {
  connection: "close",
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
};

/** What a stream is sent with. */
interface Sending {
  readonly keeper: StreamKeeper;
  /** @throws Problem once the caller may not go on */
  readonly requireStill: () => Promise<void>;
}

/**
 * Sends the events as long as the caller takes them. While it does not, none is asked for: what is in memory is what one event has.
 * @throws Problem that is the answer, before the first event
 */
export async function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  { events, stop }: SentEvents,
  { keeper, requireStill }: Sending,
): Promise<FastifyReply> {
  const { raw } = reply;
  const now = readMonotonic();
  const stream: OpenStream = { raw, stop, requireStill, writtenAt: now, checkedAt: now, unreadSince: null };
  raw.once("close", () => {
    keeper.remove(stream);
    stop(null);
  });
  const first = await events.next();
  if (request.method === "HEAD") {
    stop(null);
    await events.return?.();
    return reply.headers(HEADERS).send();
  }
  reply.hijack();
  raw.writeHead(200, { ...toHeaders(reply), ...HEADERS });
  if (!raw.destroyed) keeper.add(stream);
  void pump(stream, events, first).catch((error: unknown) => {
    request.log.error({ err: error }, "a stream of events failed");
    raw.destroy();
  });
  return reply;
}

/** Those that were set before, such as of limits. */
function toHeaders(reply: FastifyReply): Record<string, string | number | string[]> {
  const headers = Object.entries(reply.getHeaders());
  return Object.fromEntries(headers.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

async function pump(
  stream: OpenStream,
  events: AsyncIterator<Uint8Array | string>,
  first: IteratorResult<Uint8Array | string>,
): Promise<void> {
  const { raw } = stream;
  try {
    for (let next = first; next.done !== true && !raw.destroyed; next = await events.next()) {
      if (write(stream, next.value)) continue;
      await waitForReader(raw);
      stream.unreadSince = null;
    }
  } catch (error) {
    // Before the last line, so that the caller knows that it is none of the execution's.
    write(stream, renderClosed(error instanceof Problem ? error : new Problem("INTERNAL_ERROR")));
    throw error;
  } finally {
    await events.return?.();
    // Whoever does not take the last event is cut off as well.
    stream.unreadSince ??= readMonotonic();
    raw.end();
  }
}

/** Until what was sent is taken, or the connection is gone. */
async function waitForReader(raw: ServerResponse): Promise<void> {
  if (raw.destroyed || !raw.writableNeedDrain) return;
  const settled = new AbortController();
  const { signal } = settled;
  await Promise.race([once(raw, "drain", { signal }), once(raw, "close", { signal })])
    .catch(() => undefined)
    .finally(() => settled.abort());
}
