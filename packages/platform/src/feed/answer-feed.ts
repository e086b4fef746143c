import { formatTimestamp } from "@platform/contract/execution";
import type { FeedItem } from "@platform/contract/feed";
import type { StreamRoom } from "@platform/engine/executions/stream-room";
import { answerFeed } from "@platform/engine/http/answer-feed";
import type { FeedView } from "@platform/engine/http/answer-feed";
import { encodePosition } from "../store/feed/feed.ts";
import type { FeedEvent, FeedReader } from "../store/feed/feed.ts";
import type { Feed } from "./feed.ts";

/** Who asks for the feed. */
interface FeedCaller {
  readonly reader: FeedReader;
  /** Whose connection it is. */
  readonly organisationId: string;
}

/** What feeds are answered with. */
export interface FeedAnswers {
  readonly feed: Feed;
  /** Counts who waits and who streams. */
  readonly room: StreamRoom;
}

type FeedRequest = Parameters<typeof answerFeed>[1];

/** The handler of a feed: `toCaller` says whose it is. */
export function createFeedHandler<C>(
  answers: FeedAnswers,
  toCaller: (caller: C) => FeedCaller,
): (request: FeedRequest & { readonly caller: C }) => ReturnType<typeof answerFeed> {
  return (request) => answerFeed(createView(answers, toCaller(request.caller)), request);
}

function createView({ feed, room }: FeedAnswers, { reader, organisationId }: FeedCaller): FeedView {
  const shownTo = reader.kind === "organisation" ? reader.id : null;
  return {
    findStart: feed.findStart,
    read: async (question) => {
      const { events, position } = await feed.read({ ...question, reader });
      return { items: events.map((event) => toItem(event, shownTo)), position };
    },
    encode: encodePosition,
    enter: () => room.take(organisationId),
  };
}

/** @param organisationId who reads; null: the application itself */
function toItem(event: FeedEvent, organisationId: string | null): FeedItem {
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
