import { MAX_INPUT_BYTES } from "@platform/contract/limits";
import type { Check, Expected, Sent } from "./check.ts";

const JSON_BODY = { "content-type": "application/json" };
const UNKNOWN = "00000000-0000-4000-8000-000000000000";

/** A start that is refused. */
function refuseStart(name: string, says: string, sent: Partial<Sent>, expected: Expected): Check {
  const send = () => ({ method: "POST", path: "/", headers: JSON_BODY, body: "{}", ...sent }) as const;
  return { name, says, send, expect: [expected] };
}

/** A request that is refused. */
function refuse(name: string, says: string, sent: Sent, expected: Expected): Check {
  return { name, says, send: () => sent, expect: [expected] };
}

const reference = `{"dataPoolId":"${UNKNOWN}","dataSourceDescriptorId":"${UNKNOWN}","fileId":"${UNKNOWN}"}`;

/** Bad input gets a 4xx with code and detail; nothing of it starts anything. */
export const REFUSAL_CHECKS: readonly Check[] = [
  refuseStart(
    "body-empty",
    "an empty body is 400 INVALID_JSON",
    { body: "" },
    { status: 400, code: "INVALID_JSON" },
  ),
  refuseStart(
    "body-no-json",
    "a body that is not JSON is 400 INVALID_JSON",
    { body: '{"data": ' },
    { status: 400, code: "INVALID_JSON" },
  ),
  refuseStart(
    "body-no-utf8",
    "a body that is not UTF-8 is 400 INVALID_JSON",
    { body: Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) },
    { status: 400, code: "INVALID_JSON" },
  ),
  refuseStart(
    "body-no-object",
    "a body that is no object is 400 INVALID_INPUT",
    { body: "[]" },
    { status: 400, code: "INVALID_INPUT" },
  ),
  refuseStart(
    "body-unknown-key",
    "an unknown key is 400 INVALID_INPUT with its JSON pointer",
    { body: '{"unheard_of": 1}' },
    {
      status: 400,
      code: "INVALID_INPUT",
      findFault: ({ text }) => (text.includes('"/unheard_of"') ? null : '"errors" does not name /unheard_of'),
    },
  ),
  refuseStart(
    "data-no-object",
    "data that is no object is 400 INVALID_INPUT",
    { body: '{"data": 1}' },
    { status: 400, code: "INVALID_INPUT" },
  ),
  refuseStart(
    "data-twice",
    "data by value and by reference is 400 INVALID_INPUT",
    { body: `{"data": {}, "dataRef": ${reference}}` },
    { status: 400, code: "INVALID_INPUT" },
  ),
  refuseStart(
    "data-too-large",
    "data above 1 MB is 413 INPUT_TOO_LARGE, and the detail names dataRef",
    { body: `{"data": {"x": "${"x".repeat(MAX_INPUT_BYTES)}"}}` },
    {
      status: 413,
      code: "INPUT_TOO_LARGE",
      findFault: ({ text }) => (text.includes("dataRef") ? null : "the detail does not name dataRef"),
    },
  ),
  refuseStart(
    "reference-unknown",
    "a reference to nothing is 422 DATA_REFERENCE_INVALID",
    { body: `{"dataRef": ${reference}}` },
    { status: 422, code: "DATA_REFERENCE_INVALID" },
  ),
  refuseStart(
    "media-type",
    "a body of another type is 415 UNSUPPORTED_MEDIA_TYPE",
    { headers: { "content-type": "text/plain" } },
    { status: 415, code: "UNSUPPORTED_MEDIA_TYPE" },
  ),
  refuse(
    "accept",
    "who does not accept JSON gets 406 NOT_ACCEPTABLE",
    { method: "GET", path: "/", headers: { accept: "text/html" } },
    { status: 406, code: "NOT_ACCEPTABLE" },
  ),
  refuse(
    "method",
    "another method is 405 METHOD_NOT_ALLOWED with Allow",
    { method: "DELETE", path: "/" },
    { status: 405, code: "METHOD_NOT_ALLOWED", headers: { allow: /\bGET\b.*\bPOST\b|\bPOST\b.*\bGET\b/ } },
  ),
  refuse(
    "method-of-one",
    "the same holds for an execution",
    { method: "PATCH", path: `/${UNKNOWN}` },
    { status: 405, code: "METHOD_NOT_ALLOWED", headers: { allow: /\bGET\b/ } },
  ),
  ...["", "/result", "/log", "/receipt"].map((path) =>
    refuse(
      `unknown${path.replace("/", "-")}`,
      `GET {id}${path} of an execution that does not exist is 404 EXECUTION_NOT_FOUND`,
      { method: "GET", path: `/${UNKNOWN}${path}` },
      { status: 404, code: "EXECUTION_NOT_FOUND" },
    ),
  ),
  refuse(
    "unknown-cancel",
    "a cancel of an execution that does not exist is 404 EXECUTION_NOT_FOUND",
    { method: "PUT", path: `/${UNKNOWN}/cancel` },
    { status: 404, code: "EXECUTION_NOT_FOUND" },
  ),
  refuse(
    "id-malformed",
    "an id that is no UUID is as one that does not exist",
    { method: "GET", path: "/no-uuid" },
    { status: 404, code: "EXECUTION_NOT_FOUND" },
  ),
  refuse(
    "list-limit",
    "a limit that is out of range is 400 INVALID_INPUT",
    { method: "GET", path: "/?limit=0" },
    { status: 400, code: "INVALID_INPUT" },
  ),
  refuse(
    "list-status",
    "a status that does not exist is 400 INVALID_INPUT",
    { method: "GET", path: "/?status=DONE" },
    { status: 400, code: "INVALID_INPUT" },
  ),
  {
    name: "token-missing",
    says: "without a token everything is 401 UNAUTHENTICATED with WWW-Authenticate",
    needs: "token",
    send: () => ({ method: "GET", path: "/", isAnonymous: true }),
    expect: [{ status: 401, code: "UNAUTHENTICATED", headers: { "www-authenticate": /^Bearer\b/ } }],
  },
  {
    name: "token-wrong",
    says: "the same holds for a token that is none",
    needs: "token",
    send: () => ({ method: "GET", path: "/", isAnonymous: true, headers: { authorization: "Bearer none" } }),
    expect: [{ status: 401, code: "UNAUTHENTICATED", headers: { "www-authenticate": /^Bearer\b/ } }],
  },
];
