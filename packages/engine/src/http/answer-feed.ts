import type { FastifyReply, FastifyRequest } from "fastify";
import { MAX_FEED_PAGE } from "@platform/contract/feed";
import type { FEED, FeedItem } from "@platform/contract/feed";
import type { Problem } from "@platform/contract/problems";
import type { StreamRoom } from "../executions/stream-room.ts";
import { isStreamWanted } from "./accept.ts";
import { watchCaller } from "./caller-gone.ts";
import { readLastEventId, renderClosed, renderEvent } from "./event-stream.ts";
import type { SentEvents } from "./event-stream.ts";
import { readWait } from "./prefer.ts";
import type { OperationReply } from "./types.ts";

/** Some items, and the position behind them. */
interface FeedPage {
  readonly items: readonly FeedItem[];
  readonly position: number;
}

/** A feed as one caller reads it. */
export interface FeedView {
  /** Where a cursor begins; undefined: now. @throws Problem CURSOR_EXPIRED, INVALID_INPUT */
  readonly findStart: (cursor: string | undefined) => Promise<number>;
  /** The next items; none once the seconds are over, or the signal ends the wait. */
  readonly read: (question: {
    readonly after: number;
    readonly limit: number;
    readonly seconds: number;
    readonly signal: AbortSignal;
  }) => Promise<FeedPage>;
  /** The cursor of what is behind a position. */
  readonly encode: (position: number) => string;
  /** Takes a place among those who wait and stream. @throws Problem RATE_LIMITED, UNAVAILABLE */
  readonly enter: () => ReturnType<StreamRoom["take"]>;
}

/** A request of one of the feeds. */
interface FeedRequest {
  readonly http: FastifyRequest;
  readonly reply: FastifyReply;
  readonly query: { readonly after?: string | undefined; readonly limit?: number | undefined };
  readonly requireStill: () => Promise<void>;
}

type FeedReply = OperationReply<
  typeof FEED & { readonly allows: "caller"; readonly scope: "application"; readonly summary: "" }
>;

/** While it waits, a stream looks for itself so often whether there is something. */
const STREAM_SECONDS = 60;

/** The next events as JSON, or all that follow as a stream. @throws Problem */
export async function answerFeed(view: FeedView, request: FeedRequest): Promise<FeedReply> {
  const { http, query } = request;
  if (!isStreamWanted(http)) return await answerPage(view, request);
  return { status: 200, events: openStream(view, readLastEventId(http) ?? query.after) };
}

async function answerPage(
  view: FeedView,
  { http, reply, query, requireStill }: FeedRequest,
): Promise<FeedReply> {
  const { limit = MAX_FEED_PAGE } = query;
  const seconds = readWait(http);
  const after = await view.findStart(query.after);
  const question = { after, limit, seconds, signal: watchCaller(reply) };
  if (seconds === 0) return toReply(view, await view.read(question));
  const leave = view.enter();
  reply.header("preference-applied", `wait=${seconds}`);
  try {
    const page = await view.read(question);
    // It may have waited for a minute.
    await requireStill();
    return toReply(view, page);
  } finally {
    leave();
  }
}

function toReply({ encode }: FeedView, { items, position }: FeedPage): FeedReply {
  return { status: 200, body: { items: [...items], cursor: encode(position) } };
}

function openStream(view: FeedView, cursor: string | undefined): SentEvents {
  const ending = new AbortController();
  let problem: Problem | null = null;
  return {
    events: streamEvents(view, { cursor, signal: ending.signal, readProblem: () => problem }),
    stop: (why) => {
      problem ??= why;
      ending.abort();
    },
  };
}

interface StreamPlace {
  readonly cursor: string | undefined;
  readonly signal: AbortSignal;
  /** Why it was ended; null: its caller is gone. */
  readonly readProblem: () => Problem | null;
}

async function* streamEvents(
  view: FeedView,
  { cursor, signal, readProblem }: StreamPlace,
): AsyncGenerator<string, void> {
  const leave = view.enter();
  try {
    let after = await view.findStart(cursor);
    // At once: a stream that begins now has a place to go on from before anything has happened.
    yield renderEvent("cursor", "{}", view.encode(after));
    while (!signal.aborted) {
      const page = await view.read({ after, limit: MAX_FEED_PAGE, seconds: STREAM_SECONDS, signal });
      const hasMoved = page.position > after;
      after = page.position;
      if (page.items.length > 0)
        yield page.items.map((item) => renderEvent("change", JSON.stringify(item), item.cursor)).join("");
      // Others had changes: a place that never moved would expire.
      else if (hasMoved) yield renderEvent("cursor", "{}", view.encode(after));
    }
    const problem = readProblem();
    if (problem !== null) yield renderClosed(problem);
  } finally {
    leave();
  }
}
