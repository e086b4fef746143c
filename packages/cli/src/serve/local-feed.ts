import type { FastifyInstance } from "fastify";
import { formatTimestamp } from "@platform/contract/execution";
import { LOCAL_FEED_API } from "@platform/contract/feed";
import type { FeedItem } from "@platform/contract/feed";
import type { MemoryFeed, MemoryFeedEvent } from "@platform/engine/executions/memory-feed";
import { createStreamRoom } from "@platform/engine/executions/stream-room";
import { answerFeed } from "@platform/engine/http/answer-feed";
import type { FeedView } from "@platform/engine/http/answer-feed";
import { registerOperations } from "@platform/engine/http/pipeline";
import { LOCAL_SERVICE, LOCAL_VERSION } from "./local-service.ts";

/** `GET /events` of the local server, as the gateway has it below its origin. */
export async function registerLocalFeed(app: FastifyInstance, feed: MemoryFeed): Promise<void> {
  const room = createStreamRoom();
  const view: FeedView = {
    findStart: async (cursor) => feed.findStart(cursor),
    read: async (question) => {
      const events = await feed.read(question);
      const items = events.map((event) => toItem(event, feed.encode));
      return { items, position: events.at(-1)?.position ?? question.after };
    },
    encode: feed.encode,
    enter: () => room.take(LOCAL_VERSION),
  };
  // Before the server waits for its connections.
  app.addHook("preClose", async () => feed.close());
  await registerOperations(app, LOCAL_FEED_API, {
    prefix: "",
    authenticate: () => null,
    handlers: { readEvents: (request) => answerFeed(view, request) },
  });
}

function toItem({ position, at, record }: MemoryFeedEvent, encode: MemoryFeed["encode"]): FeedItem {
  const { id, status, failure } = record;
  return {
    cursor: encode(position),
    executionId: id,
    status,
    ...(failure === null ? {} : { code: failure.code }),
    at: formatTimestamp(at),
    serviceKey: LOCAL_SERVICE.key,
    version: LOCAL_VERSION,
    subscriptionId: null,
    kind: "job",
  };
}
