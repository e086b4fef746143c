import type { FastifyReply, FastifyRequest } from "fastify";
import { formatTimestamp } from "@platform/contract/execution";
import { MAX_FEED_PAGE } from "@platform/contract/feed";
import type { FEED } from "@platform/contract/feed";
import type { Problem } from "@platform/contract/problems";
import type { StreamRoom } from "@platform/engine/executions/stream-room";
import { isStreamWanted } from "@platform/engine/http/accept";
import { readLastEventId, renderClosed, renderEvent } from "@platform/engine/http/event-stream";
import type { SentEvents } from "@platform/engine/http/event-stream";
import { readWait } from "@platform/engine/http/prefer";
import type { OperationReply } from "@platform/engine/http/types";
import { encodePosition } from "../store/feed/feed.ts";
import type { FeedEvent, FeedReader } from "../store/feed/feed.ts";
import type { Feed } from "./feed.ts";

/** Who asks for the feed. */
interface FeedCaller {
  readonly reader: FeedReader;
  /** Whose connection it is. */
  readonly organisationId: string;
}

/** A request of one of the feeds. */
interface FeedRequest {
  readonly http: FastifyRequest;
  readonly reply: FastifyReply;
  readonly query: { readonly after?: string | undefined; readonly limit?: number | undefined };
  readonly requireStill: () => Promise<void>;
}

/** What feeds are answered with. */
export interface FeedAnswers {
  readonly feed: Feed;
  /** Counts who waits and who streams. */
  readonly room: StreamRoom;
}

type FeedReply = OperationReply<
  typeof FEED & { readonly allows: "caller"; readonly scope: "application"; readonly summary: "" }
>;

/** While it waits, a stream looks for itself so often whether there is something. */
const STREAM_SECONDS = 60;

/** The handler of a feed: `toCaller` says whose it is. */
export function createFeedHandler<C>(
  answers: FeedAnswers,
  toCaller: (caller: C) => FeedCaller,
): (request: FeedRequest & { readonly caller: C }) => Promise<FeedReply> {
  return (request) => answerFeed(answers, toCaller(request.caller), request);
}

/** The next events as JSON, or all that follow as a stream. @throws Problem */
async function answerFeed(
  answers: FeedAnswers,
  caller: FeedCaller,
  request: FeedRequest,
): Promise<FeedReply> {
  const { http, query } = request;
  if (!isStreamWanted(http)) return await answerPage(answers, caller, request);
  return { status: 200, events: openStream(answers, caller, readLastEventId(http) ?? query.after) };
}

async function answerPage(
  { feed, room }: FeedAnswers,
  { reader, organisationId }: FeedCaller,
  { http, reply, query, requireStill }: FeedRequest,
): Promise<FeedReply> {
  const { limit = MAX_FEED_PAGE } = query;
  const seconds = readWait(http);
  const after = await feed.findStart(query.after);
  const gone = new AbortController();
  const question = { reader, after, limit, seconds, signal: gone.signal };
  if (seconds === 0) return toReply(await feed.read(question), caller(reader));
  const leave = room.take(organisationId);
  reply.raw.once("close", () => gone.abort());
  reply.header("preference-applied", `wait=${seconds}`);
  try {
    const page = await feed.read(question);
    // It may have waited for a minute.
    await requireStill();
    return toReply(page, caller(reader));
  } finally {
    leave();
  }
}

function caller(reader: FeedReader): string | null {
  return reader.kind === "organisation" ? reader.id : null;
}

function toReply(
  { events, position }: Awaited<ReturnType<Feed["read"]>>,
  organisationId: string | null,
): FeedReply {
  const items = events.map((event) => toItem(event, organisationId));
  return { status: 200, body: { items, cursor: encodePosition(position) } };
}

/** @param organisationId who reads; null: the application itself */
function toItem(event: FeedEvent, organisationId: string | null) {
  const isOwn = organisationId === null || event.organisationId === organisationId;
  const kind = event.applicationId === null ? ("job" as const) : ("outgoing" as const);
  return {
    cursor: encodePosition(event.position),
    executionId: event.executionId,
    status: event.status,
    ...(event.code === null ? {} : { code: event.code }),
    at: formatTimestamp(event.at),
    serviceKey: event.serviceKey,
    version: event.version,
    // Of another organisation: the provider of a service is not told who its subscribers are.
    subscriptionId: isOwn ? event.subscriptionId : null,
    kind: isOwn ? kind : ("incoming" as const),
  };
}

function openStream(answers: FeedAnswers, asked: FeedCaller, cursor: string | undefined): SentEvents {
  const ending = new AbortController();
  let problem: Problem | null = null;
  return {
    events: streamEvents(answers, asked, { cursor, signal: ending.signal, readProblem: () => problem }),
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
  { feed, room }: FeedAnswers,
  { reader, organisationId }: FeedCaller,
  { cursor, signal, readProblem }: StreamPlace,
): AsyncGenerator<string, void> {
  const leave = room.take(organisationId);
  try {
    let after = await feed.findStart(cursor);
    // At once: a stream that begins now has a place to go on from before anything has happened.
    yield renderEvent("cursor", "{}", encodePosition(after));
    while (!signal.aborted) {
      const page = await feed.read({ reader, after, limit: MAX_FEED_PAGE, seconds: STREAM_SECONDS, signal });
      after = page.position;
      if (page.events.length > 0)
        yield page.events
          .map((event) => toItem(event, caller(reader)))
          .map((item) => renderEvent("change", JSON.stringify(item), item.cursor))
          .join("");
    }
    const problem = readProblem();
    if (problem !== null) yield renderClosed(problem);
  } finally {
    leave();
  }
}
