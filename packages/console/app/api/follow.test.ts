import { RequestRefused } from "@platform/contract/client";
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

function refuse(status: number): RequestRefused {
  return new RequestRefused(status, { code: "ANY", detail: "Refused." });
}

test("a stream goes on once its user has signed in again, and what was refused for good is not asked for again", async () => {
  const answers = [refuse(401), refuse(404)];
  const refused: number[] = [];
  const state: StreamState = { lastId: null, hasEnded: false };
  await follow(() => Promise.reject(answers.shift() ?? new Error("asked once more")), state, {
    signal: new AbortController().signal,
    onEvent: () => "more",
    onRefused: ({ status }) => void refused.push(status),
  });
  expect(refused).toEqual([404]);
});
