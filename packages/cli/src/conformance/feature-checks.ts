import { SERVICE_API } from "@platform/contract/service-api";
import { HOUR } from "@platform/engine/base/time";
import { isRecord } from "@platform/engine/base/json";
import type { Answer, Check, Known, Sent } from "./check.ts";
import { isTerminal, readMember, readText } from "./read-answer.ts";

const JSON_BODY = { "content-type": "application/json" };
const STATE = SERVICE_API.getState.responses[200].schema;
const STARTED = SERVICE_API.startExecution.responses[201].schema;
const BATCH = SERVICE_API.getBatch.responses[200].schema;

/** A start with a key that no other run of the checks has. */
const startOnce = ({ id = "", body }: Known, more = ""): Sent => ({
  method: "POST",
  path: "/",
  headers: { ...JSON_BODY, "idempotency-key": `check-${id}` },
  body: `${body}${more}`,
});

/** Rehearsals, keys, times, events and batches, in this order; what they start is cancelled, except for one execution. */
export const FEATURE_CHECKS: readonly Check[] = [
  {
    name: "rehearsal",
    says: "with Prefer: dry-run a start is checked, and answered 200 without one",
    send: ({ body }) => ({
      method: "POST",
      path: "/",
      headers: { ...JSON_BODY, prefer: "dry-run" },
      body,
    }),
    expect: [
      {
        status: 200,
        headers: { "preference-applied": /^dry-run$/ },
        schemas: [SERVICE_API.startExecution.responses[200].schema],
      },
    ],
  },
  {
    name: "key",
    says: "a start may have an Idempotency-Key",
    needs: "id",
    send: (known) => startOnce(known),
    expect: [{ status: 201, schemas: [STARTED] }],
    learn: (answer) => ({ keyedId: readText(answer, "id") }),
  },
  {
    name: "key-repeated",
    says: "sent again with its key it is the same execution, and says so in Idempotency-Replayed",
    needs: "keyedId",
    send: (known) => startOnce(known),
    expect: [
      {
        status: 201,
        headers: { "idempotency-replayed": /^true$/ },
        findFault: (answer, { keyedId }) => (readText(answer, "id") === keyedId ? null : "it is another one"),
      },
    ],
  },
  {
    name: "key-conflict",
    says: "another request with the same key is 409 IDEMPOTENCY_CONFLICT",
    needs: "keyedId",
    send: (known) => startOnce(known, " "),
    expect: [{ status: 409, code: "IDEMPOTENCY_CONFLICT" }],
  },
  {
    name: "start-at",
    says: "a start with startAt waits until then, and says so",
    needs: "id",
    send: ({ body }) => ({ method: "POST", path: "/", headers: JSON_BODY, body: addStartAt(body) }),
    expect: [{ status: 201, schemas: [STARTED], findFault: findWaitingFault }],
    learn: (answer) => ({ laterId: readText(answer, "id") }),
  },
  {
    name: "start-at-cancel",
    says: "what waits for its time ends at once when it is cancelled",
    needs: "laterId",
    send: ({ laterId }) => ({ method: "PUT", path: `/${laterId}/cancel` }),
    expect: [
      {
        status: 200,
        schemas: [STATE],
        findFault: (answer) => (isTerminal(answer) ? null : `it is ${readText(answer, "status")}`),
      },
    ],
  },
  {
    name: "events",
    says: "the events of an execution are a stream that ends with its final state",
    needs: "etag",
    send: ({ id }) => ({ method: "GET", path: `/${id}/events`, headers: { accept: "text/event-stream" } }),
    expect: [
      { status: 200, headers: { "content-type": /^text\/event-stream\b/ }, findFault: findStreamFault },
    ],
  },
  {
    name: "batch",
    says: "a batch starts its items one by one: one that is refused keeps no other from it",
    needs: "id",
    send: ({ body }) => ({
      method: "POST",
      path: "/batch",
      headers: JSON_BODY,
      body: `{"items":[5,${body}]}`,
    }),
    expect: [
      {
        status: 201,
        headers: { location: /\/batch\/[0-9a-f-]{36}$/ },
        schemas: [SERVICE_API.startBatch.responses[201].schema],
        findFault: findItemsFault,
      },
    ],
    learn: (answer) => ({ batchId: readText(answer, "id") }),
  },
  {
    name: "batch-progress",
    says: "a batch counts its executions by state",
    needs: "batchId",
    send: ({ batchId }) => ({ method: "GET", path: `/batch/${batchId}` }),
    expect: [{ status: 200, schemas: [BATCH], findFault: findItemsFault }],
  },
  {
    name: "batch-cancel",
    says: "a batch is cancelled as a whole",
    needs: "batchId",
    send: ({ batchId }) => ({ method: "PUT", path: `/batch/${batchId}/cancel` }),
    expect: [
      {
        status: 200,
        schemas: [BATCH],
        // What has ended before is not changed.
        findFault: (answer) =>
          ["cancelled", "terminal"].some((name) => readMember(answer, name) === true)
            ? null
            : '"cancelled" is not true of what has not ended',
      },
    ],
  },
  {
    name: "batch-empty",
    says: "a batch without items is 400 INVALID_INPUT",
    send: () => ({ method: "POST", path: "/batch", headers: JSON_BODY, body: '{"items":[]}' }),
    expect: [{ status: 400, code: "INVALID_INPUT" }],
  },
  {
    name: "batch-unknown",
    says: "a batch that does not exist is 404 NOT_FOUND",
    send: () => ({ method: "GET", path: "/batch/00000000-0000-4000-8000-000000000000" }),
    expect: [{ status: 404, code: "NOT_FOUND" }],
  },
];

/** The text stays as it was given, so that numbers keep all their digits. */
function addStartAt(body: string): string {
  const member = `"startAt":"${new Date(Date.now() + HOUR).toISOString()}"`;
  const rest = body.slice(body.indexOf("{") + 1);
  return `{${member}${rest.trim() === "}" ? "" : ","}${rest}`;
}

function findWaitingFault(answer: Answer): string | null {
  const reason = readText({ ...answer, json: readMember(answer, "waiting") }, "reason");
  return reason === "START_AT" ? null : `"waiting" has the reason ${JSON.stringify(reason)}`;
}

function findStreamFault({ text }: Answer): string | null {
  const states = [...text.matchAll(/^event: state\ndata: (.*)$/gm)];
  return (states.at(-1)?.[1] ?? "").includes('"terminal":true') ? null : "its last state is not final";
}

function findItemsFault(answer: Answer): string | null {
  const items = readMember(answer, "items");
  const [refused, started] = Array.isArray(items) ? (items as readonly unknown[]) : [];
  if (!isRecord(refused) || refused["code"] !== "INVALID_INPUT") return "the first item is not refused";
  return isRecord(started) && typeof started["id"] === "string" ? null : "the second item is not started";
}
