import { expect, test } from "vitest";
import { follow } from "./follow.ts";
import type { StreamState } from "./follow.ts";

test("a stream that is cut off twice goes on behind the last line that has arrived", async () => {
  const answers = [
    "id: 5\nevent: log\ndata: []\n\n",
    // The first event of a connection has no id, and this one ends with it.
    "event: state\ndata: {}\n\n",
    "event: end\ndata: {}\n\n",
  ];
  const asked: (string | undefined)[] = [];
  const state: StreamState = { lastId: null, hasEnded: false };
  await follow(
    (headers) => {
      asked.push(headers["last-event-id"]);
      return Promise.resolve(new Response(answers[asked.length - 1]));
    },
    state,
    {
      signal: new AbortController().signal,
      onEvent: ({ event }) => (event === "end" ? "end" : "more"),
      onRefused: () => undefined,
    },
  );
  expect(asked).toEqual([undefined, "5", "5"]);
});
