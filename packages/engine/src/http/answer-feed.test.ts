import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { LOCAL_FEED_API } from "@platform/contract/feed";
import { Problem } from "@platform/contract/problems";
import { answerFeed } from "./answer-feed.ts";
import type { FeedView } from "./answer-feed.ts";
import { registerOperations } from "./pipeline.ts";
import { createHttpServer } from "./server.ts";

test("a stream without changes says where it has come to, so that who connects again does not begin at a place that has expired", async () => {
  const app = createHttpServer({ logger: pino({ level: "silent" }) });
  onTestFinished(() => app.close());
  const places = [7, 7, 9];
  const view: FeedView = {
    findStart: async () => 5,
    read: async () => {
      const position = places.shift();
      if (position === undefined) throw new Problem("UNAVAILABLE", "The server stops.");
      return { items: [], position };
    },
    encode: (position) => `at-${position}`,
    enter: () => () => undefined,
  };
  await registerOperations(app, LOCAL_FEED_API, {
    prefix: "",
    authenticate: () => null,
    handlers: { readEvents: (request) => answerFeed(view, request) },
  });
  const { body } = await app.inject({ url: "/events", headers: { accept: "text/event-stream" } });
  expect(body.split("\n\n").filter((event) => event.startsWith("id: "))).toEqual([
    "id: at-5\nevent: cursor\ndata: {}",
    "id: at-7\nevent: cursor\ndata: {}",
    "id: at-9\nevent: cursor\ndata: {}",
  ]);
});
