import { expect, test } from "vitest";
import { checkHistory } from "./check-history.ts";
import type { Violation } from "./check-history.ts";
import type { Entry, Observation } from "./history.ts";

const ID = "01a20e12-d5bd-7000-8754-54c1f4a4dab9";
const OTHER = "01a20e12-d5bd-7000-8754-000000000000";
const READERS = ["pages", "stream"];
const RESULT = { op: "1.0", id: ID, nonce: "n1", attempt: 1 };
/** A start of the service that has lost attempts repeated. */
const RETRIED = "1.0r";

const accept = (id = ID, op = "1.0"): Observation => ({ kind: "accepted", op, id, isReplay: false });
const begin = (nonce = "n1", id = ID): Observation => ({ kind: "began", op: "1.0", id, nonce, attempt: 1 });
const retry = (attempt: number, nonce = `n${attempt}`): Observation => ({
  kind: "began",
  op: RETRIED,
  id: ID,
  nonce,
  attempt,
});
const retried = (...began: Observation[]) => ({
  start: [accept(ID, RETRIED)],
  began,
  results: [fetchResult({ op: RETRIED, id: ID, nonce: "n2", attempt: 2 })],
});
const see = (status: "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED" | "UNKNOWN"): Observation => ({
  kind: "state",
  id: ID,
  status,
  by: "gateway-1",
});
const fetchResult = (result = RESULT): Observation => ({
  kind: "result",
  id: ID,
  text: JSON.stringify(result),
  result,
  by: "gateway-1",
});
const feed = (reader: string, ...states: string[]): Observation[] =>
  states.map((status, index) => ({
    kind: "event",
    reader,
    cursor: `c${index}`,
    id: ID,
    status: status as "PENDING",
  }));
const tell = (answered = 204, status = "SUCCEEDED", isSigned = true): Observation => ({
  kind: "message",
  message: "m1",
  id: ID,
  status,
  isSigned,
  answered,
});
const LIFE = ["PENDING", "RUNNING", "SUCCEEDED"];
const SETTLED: Observation[] = [{ kind: "settled" }, { kind: "delivered" }];
/** What a platform shows that keeps its promises; parts are replaced by name. */
const GOOD = {
  start: [accept()],
  began: [begin()],
  states: [see("PENDING"), see("RUNNING"), see("SUCCEEDED")],
  results: [fetchResult(), fetchResult()],
  pages: feed("pages", ...LIFE),
  stream: feed("stream", ...LIFE),
  messages: [tell()],
  end: SETTLED,
};

function judge(parts: Partial<Record<keyof typeof GOOD, readonly Observation[]>>): readonly Violation[] {
  const history: Entry[] = Object.values({ ...GOOD, ...parts })
    .flat()
    .map((observation, atMs) => ({ ...observation, atMs }));
  return [...new Set(checkHistory(history, READERS).map(({ violation }) => violation))];
}

test("a history in which every promise was kept has no fault", () => {
  expect(judge({})).toEqual([]);
});

test.for<[string, Partial<Record<keyof typeof GOOD, readonly Observation[]>>]>([
  [
    "a start without an answer made no execution",
    { start: [{ kind: "unanswered", op: "1.9", why: "reset" }, accept()] },
  ],
  [
    "a start that was repeated with its key is the same execution",
    { start: [{ kind: "unanswered", op: "1.0", why: "reset" }, accept(), accept()] },
  ],
  ["a start without an answer was run", { start: [{ kind: "unanswered", op: "1.0", why: "timeout" }] }],
  [
    "a start was refused, then accepted",
    { start: [{ kind: "refused", op: "1.0", status: 503, code: "UNAVAILABLE" }, accept()] },
  ],
  [
    "a worker could not prepare it, and it went back",
    { pages: feed("pages", "PENDING", "RUNNING", "PENDING", "RUNNING", "SUCCEEDED") },
  ],
  ["its first attempt was lost, and its service wants another one", retried(retry(1), retry(2))],
  [
    "its start has no answer and its code never began: nobody asks for its result",
    {
      start: [],
      began: [],
      states: [],
      results: [],
      pages: feed("pages", "PENDING", "FAILED"),
      stream: feed("stream", "PENDING", "FAILED"),
      messages: [tell(204, "FAILED")],
    },
  ],
  [
    "an event and a message came twice",
    { pages: [...feed("pages", ...LIFE), ...feed("pages", ...LIFE)], messages: [tell(503), tell(), tell()] },
  ],
  [
    "its worker was lost before its code began",
    {
      began: [],
      states: [see("RUNNING"), see("UNKNOWN")],
      results: [{ kind: "result", id: ID, text: "WORKER_LOST", result: null, by: "gateway-1" }],
      pages: feed("pages", "PENDING", "RUNNING", "UNKNOWN"),
      stream: feed("stream", "PENDING", "RUNNING", "UNKNOWN"),
      messages: [tell(204, "UNKNOWN")],
    },
  ],
  [
    "a gateway that was cut off did not know yet that it had ended",
    {
      states: [see("SUCCEEDED"), see("RUNNING")],
      results: [{ kind: "no-result", id: ID, code: "RESULT_NOT_READY", by: "gateway-2" }, fetchResult()],
    },
  ],
  [
    "it has not ended, and there is time",
    {
      states: [see("RUNNING")],
      results: [],
      pages: feed("pages", "PENDING"),
      stream: [],
      messages: [],
      end: [],
    },
  ],
])("nothing is wrong where %s", ([, parts]) => {
  expect(judge(parts)).toEqual([]);
});

test.for<[Violation, string, Partial<Record<keyof typeof GOOD, readonly Observation[]>>]>([
  [
    "LOST",
    "does not exist any more",
    { states: [...GOOD.states, { kind: "absent", id: ID, code: "EXECUTION_NOT_FOUND", by: "gateway-2" }] },
  ],
  [
    "LOST",
    "has no result that can be fetched",
    { results: [{ kind: "no-result", id: ID, code: "RESULT_EXPIRED", by: "gateway-1" }] },
  ],
  ["DOUBLED", "began twice", { began: [begin("n0"), begin()] }],
  ["DOUBLED", "is a second one of the same key", { start: [accept(), accept(OTHER)], end: [] }],
  ["DOUBLED", "began as another execution as well", { began: [begin(), begin("n2", OTHER)], end: [] }],
  [
    "REFUSED_BUT_RUN",
    "was refused",
    { start: [{ kind: "refused", op: "1.0", status: 503, code: "UNAVAILABLE" }] },
  ],
  [
    "WRONGLY_REFUSED",
    "was said to be a mistake",
    { start: [{ kind: "refused", op: "1.0", status: 409, code: "IDEMPOTENCY_CONFLICT" }, accept()] },
  ],
  [
    "FOREIGN_RESULT",
    "has the result of a run that never began",
    { results: [fetchResult({ ...RESULT, nonce: "n2" })] },
  ],
  ["FOREIGN_RESULT", "has the result of another start", { results: [fetchResult({ ...RESULT, op: "1.5" })] }],
  [
    "FOREIGN_RESULT",
    "has the result of another execution",
    { results: [fetchResult({ ...RESULT, id: OTHER })] },
  ],
  ["FOREIGN_RESULT", "succeeded without a run", { began: [] }],
  ["DOUBLED", "began twice in one attempt", retried(retry(1), retry(2), retry(2, "n3"))],
  [
    "DOUBLED",
    "began more often than its service wants",
    retried(...[1, 2, 3, 4].map((attempt) => retry(attempt))),
  ],
  [
    "FOREIGN_RESULT",
    "has the result of an attempt behind which another one began",
    retried(retry(1), retry(2), retry(3)),
  ],
  [
    "STUCK",
    "is still RUNNING",
    {
      states: [see("RUNNING")],
      results: [],
      pages: feed("pages", "PENDING", "RUNNING"),
      stream: feed("stream", "PENDING", "RUNNING"),
      messages: [],
    },
  ],
  [
    "STUCK",
    "is still PENDING",
    {
      states: [see("PENDING")],
      began: [],
      results: [],
      pages: feed("pages", "PENDING"),
      stream: feed("stream", "PENDING"),
      messages: [],
    },
  ],
  [
    "STUCK",
    "was acknowledged, and nobody heard of it again",
    { states: [], began: [], results: [], pages: [], stream: [], messages: [] },
  ],
  [
    "STUCK",
    "has a gateway that never gives its result",
    { end: [{ kind: "gave-up", op: "1.0", what: ID }, ...SETTLED] },
  ],
  [
    "STUCK",
    "was on a platform that did not come up again",
    { end: [{ kind: "unrepaired", what: "worker-1 is not ready" }] },
  ],
  ["CHANGED_STATE", "was UNKNOWN, and then succeeded", { states: [see("UNKNOWN"), see("SUCCEEDED")] }],
  [
    "CHANGED_STATE",
    "ended in another way for the feed",
    { pages: feed("pages", "PENDING", "RUNNING", "FAILED") },
  ],
  [
    "CHANGED_RESULT",
    "has two results",
    { results: [fetchResult(), fetchResult({ ...RESULT, nonce: "n2" })] },
  ],
  [
    "CHANGED_RESULT",
    "failed with a result",
    {
      states: [see("FAILED")],
      pages: feed("pages", "PENDING", "RUNNING", "FAILED"),
      stream: feed("stream", "PENDING", "RUNNING", "FAILED"),
      messages: [tell(204, "FAILED")],
    },
  ],
  ["FEED_GAP", "was not in the feed when it ran", { pages: feed("pages", "PENDING", "SUCCEEDED") }],
  ["FEED_GAP", "never ended in the feed", { stream: feed("stream", "PENDING", "RUNNING") }],
  ["FEED_GAP", "never came to one of the readers", { stream: [] }],
  ["FEED_GAP", "did not begin in the feed", { stream: feed("stream", "RUNNING", "SUCCEEDED") }],
  ["FEED_ORDER", "ran before it was there", { pages: feed("pages", "RUNNING", "PENDING", "SUCCEEDED") }],
  ["FEED_ORDER", "ran after it had ended", { pages: feed("pages", "PENDING", "SUCCEEDED", "RUNNING") }],
  ["UNDELIVERED", "was never told", { messages: [] }],
  ["UNDELIVERED", "was told to a receiver that refused, and not again", { messages: [tell(503)] }],
  ["WRONG_MESSAGE", "was told otherwise", { messages: [tell(204, "FAILED"), tell()] }],
  ["WRONG_MESSAGE", "was told without a signature", { messages: [tell(204, "SUCCEEDED", false), tell()] }],
])("%s: an execution that %s", ([violation, , parts]) => {
  expect(judge(parts)).toContain(violation);
});

test("a gateway that says of each poll that an execution does not exist has broken one promise", () => {
  const absent = { kind: "absent", id: ID, code: "EXECUTION_NOT_FOUND", by: "gateway-2" } as const;
  const times = [7, 8, 9].map((atMs) => ({ ...absent, atMs }));
  expect(checkHistory([...times, { ...absent, by: "gateway-1", atMs: 10 }], [])).toEqual([
    { violation: "LOST", of: ID, detail: "gateway-2 answered EXECUTION_NOT_FOUND at 7, 3 times in all" },
    { violation: "LOST", of: ID, detail: "gateway-1 answered EXECUTION_NOT_FOUND at 10, 1 times in all" },
  ]);
});
