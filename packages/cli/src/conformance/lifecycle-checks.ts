import { EXECUTION_STATES, isExecutionStatus } from "@platform/contract/execution";
import { LOCAL_SERVICE_API } from "@platform/contract/local-service-api";
import { SERVICE_API } from "@platform/contract/service-api";
import { isRecord } from "@platform/engine/base/json";
import type { Answer, Check, Expected, Known } from "./check.ts";
import { isTerminal, readMember, readText } from "./read-answer.ts";

const JSON_BODY = { "content-type": "application/json" };
const STATE = SERVICE_API.getState.responses[200].schema;
const RESULTS = [
  SERVICE_API.getResult.responses[200].schema,
  LOCAL_SERVICE_API.getResult.responses[200].schema,
];
const STARTED = {
  status: 201,
  headers: { "content-type": /^application\/json\b/ },
  schemas: [SERVICE_API.startExecution.responses[201].schema],
  findFault: findStartFault,
} as const satisfies Expected;
const NOT_READY = { status: 404, code: "RESULT_NOT_READY", headers: { "retry-after": /^\d+$/ } } as const;
/** How long one answer is held; the request is repeated until the execution has ended. */
const WAIT = { prefer: "wait=10" };

/** Start, state, result, log, list, receipt and cancel of executions, in this order. */
export const LIFECYCLE_CHECKS: readonly Check[] = [
  {
    name: "start",
    says: "a start answers 201 with Location, and a state that is not final",
    send: ({ body }) => ({ method: "POST", path: "/", headers: JSON_BODY, body }),
    expect: [STARTED],
    learn: (answer) => ({ id: readText(answer, "id") }),
  },
  {
    name: "result-early",
    says: "the result of an execution that has not ended is 404 RESULT_NOT_READY with Retry-After",
    needs: "id",
    send: ({ id }) => ({ method: "GET", path: `/${id}/result` }),
    expect: [NOT_READY, { status: 200 }],
  },
  {
    name: "state",
    says: "the state has an ETag, and is terminal exactly if it is final",
    needs: "id",
    send: ({ id }) => ({ method: "GET", path: `/${id}` }),
    expect: [
      { status: 200, headers: { etag: /^(?:W\/)?"[^"]+"$/ }, schemas: [STATE], findFault: findStateFault },
    ],
  },
  {
    name: "state-wait",
    says: "with Prefer: wait the state is held until the execution has ended",
    needs: "id",
    send: ({ id }) => ({ method: "GET", path: `/${id}`, headers: WAIT }),
    until: isTerminal,
    expect: [{ status: 200, headers: { etag: /./ }, schemas: [STATE], findFault: findEndFault }],
    learn: (answer) => ({
      status: readText(answer, "status"),
      ...(isTerminal(answer) ? { etag: answer.headers.get("etag") ?? "" } : {}),
    }),
  },
  {
    name: "state-unchanged",
    says: "a state that has not changed is 304 without a body",
    needs: "etag",
    send: ({ id, etag = "" }) => ({ method: "GET", path: `/${id}`, headers: { "if-none-match": etag } }),
    expect: [{ status: 304, findFault: ({ text }) => (text === "" ? null : "it has a body") }],
  },
  {
    name: "wait-applied",
    says: "an answer that was asked to wait says so in Preference-Applied",
    needs: "cancelledId",
    send: ({ cancelledId }) => ({
      method: "GET",
      path: `/${cancelledId}/result`,
      headers: { prefer: "wait=1" },
    }),
    expect: [
      { status: 200, headers: { "preference-applied": /^wait=1$/ } },
      { ...NOT_READY, headers: { ...NOT_READY.headers, "preference-applied": /^wait=1$/ } },
    ],
  },
  {
    name: "result",
    says: "the result is 200 of every final state: with the output, or with code and detail",
    needs: "etag",
    send: ({ id }) => ({ method: "GET", path: `/${id}/result` }),
    expect: [{ status: 200, schemas: RESULTS, findFault: findResultFault }],
  },
  {
    name: "log",
    says: "the log is a list of lines, or 403 where the provider keeps it",
    needs: "etag",
    send: ({ id }) => ({ method: "GET", path: `/${id}/log` }),
    expect: [
      { status: 200, schemas: [SERVICE_API.getLog.responses[200].schema] },
      { status: 403, code: "FORBIDDEN" },
    ],
  },
  {
    name: "receipt",
    says: "a final execution has a receipt, a JSON Web Signature",
    needs: "etag",
    send: ({ id }) => ({ method: "GET", path: `/${id}/receipt` }),
    expect: [{ status: 200, findFault: findReceiptFault }],
  },
  {
    name: "list",
    says: "the list has the newest executions first, the one that was started among them",
    needs: "id",
    send: () => ({ method: "GET", path: "/?limit=100" }),
    expect: [
      {
        status: 200,
        schemas: [SERVICE_API.listExecutions.responses[200].schema],
        findFault: (answer, { id }) =>
          listIds(answer).includes(id) ? null : "the execution that was started is not in it",
      },
    ],
  },
  {
    name: "list-page",
    says: "a page has no more items than its limit, and a Link to the next",
    needs: "cancelledId",
    send: () => ({ method: "GET", path: "/?limit=1" }),
    expect: [
      {
        status: 200,
        headers: { link: /^<[^>]+>; ?rel="next"$/ },
        findFault: (answer) => (listIds(answer).length === 1 ? null : "it has not one item"),
      },
    ],
  },
  {
    name: "cancel",
    says: "a cancel answers with the state",
    needs: "cancelledId",
    send: ({ cancelledId }) => ({ method: "PUT", path: `/${cancelledId}/cancel` }),
    expect: [{ status: 200, schemas: [STATE] }],
  },
  {
    name: "cancel-ends",
    says: "a cancelled execution ends soon",
    needs: "cancelledId",
    send: ({ cancelledId }) => ({ method: "GET", path: `/${cancelledId}`, headers: WAIT }),
    until: isTerminal,
    expect: [{ status: 200, schemas: [STATE], findFault: findEndFault }],
  },
  {
    name: "cancel-result",
    says: "a cancelled execution is FAILED with the code CANCELLED, unless it had ended before",
    needs: "cancelledId",
    send: ({ cancelledId }) => ({ method: "GET", path: `/${cancelledId}/result` }),
    expect: [{ status: 200, findFault: findCancelFault }],
  },
  {
    name: "cancel-final",
    says: "a cancel does not change a final state",
    needs: "etag",
    send: ({ id }) => ({ method: "PUT", path: `/${id}/cancel` }),
    expect: [
      {
        status: 200,
        findFault: (answer, { status }) =>
          readText(answer, "status") === status ? null : `it was ${status}, and is another now`,
      },
    ],
  },
  {
    name: "openapi",
    says: "the OpenAPI document of the service is served",
    send: () => ({ method: "GET", path: "/openapi.json" }),
    expect: [
      {
        status: 200,
        findFault: (answer) =>
          readText(answer, "openapi").startsWith("3.") ? null : "it is no OpenAPI 3 document",
      },
    ],
  },
];

/** Starts the execution that is cancelled; by the URL without its final slash, which must not redirect. */
export const SECOND_START: Check = {
  name: "start-without-slash",
  says: "a start to the URL without its final slash is no other, and is not redirected",
  needs: "id",
  send: ({ body }) => ({ method: "POST", path: "", headers: JSON_BODY, body }),
  expect: [STARTED],
  learn: (answer) => ({ cancelledId: readText(answer, "id") }),
};

function findStartFault(answer: Answer): string | null {
  const location = answer.headers.get("location");
  const id = readText(answer, "id");
  if (location === null || !location.endsWith(`/${id}`))
    return `Location is ${JSON.stringify(location)}, and does not end with the id`;
  return findStateFault(answer);
}

function findStateFault(answer: Answer): string | null {
  const status = readText(answer, "status");
  if (!isExecutionStatus(status)) return `"status" is ${JSON.stringify(status)}`;
  const { isFinal } = EXECUTION_STATES[status];
  return isTerminal(answer) === isFinal ? null : `"terminal" is ${!isFinal}, and the status ${status}`;
}

function findEndFault(answer: Answer): string | null {
  if (!isTerminal(answer)) return `it is still ${readText(answer, "status")}`;
  return readText(answer, "endedAt") === "" ? '"endedAt" is missing' : findStateFault(answer);
}

function findResultFault(answer: Answer, { status }: Known): string | null {
  if (status !== "SUCCEEDED")
    return readText(answer, "code") === "" || readText(answer, "detail") === ""
      ? `the execution is ${status}, and "code" or "detail" is missing`
      : null;
  // The local server has the output at the top level.
  const isHosted = isRecord(readMember(readEmbedded(answer), "status")) && "result" in Object(answer.json);
  return isHosted && !isRecord(readMember(answer, "result")) ? '"result" is no object' : null;
}

function readEmbedded(answer: Answer): Answer {
  return { ...answer, json: readMember(answer, "_embedded") };
}

function findCancelFault(answer: Answer): string | null {
  const status = readText({ ...answer, json: readMember(readEmbedded(answer), "status") }, "status");
  const code = readText(answer, "code");
  return status === "FAILED" && code !== "CANCELLED"
    ? `it is FAILED with the code ${JSON.stringify(code)}`
    : null;
}

function findReceiptFault(answer: Answer): string | null {
  const isCompact = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(readText(answer, "receipt"));
  return isCompact ? null : '"receipt" is no JSON Web Signature in the compact form';
}

function listIds({ json }: Answer): readonly unknown[] {
  return Array.isArray(json) ? json.map((item: unknown) => (isRecord(item) ? item["id"] : undefined)) : [];
}
