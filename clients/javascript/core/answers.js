import { misread, readJson } from "./transport.js";

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string";

function isExecution(raw) {
  if (!isObject(raw) || typeof raw.terminal !== "boolean") return false;
  const { id, status, createdAt, startedAt = null, endedAt = null } = raw;
  return (
    [id, status, createdAt].every(isText) && [startedAt, endedAt].every((at) => at === null || isText(at))
  );
}

/** What answers have to be: a proxy, a login page or a wrong URL may answer in place of a service. */
const WANTED = {
  execution: ["the state of an execution", isExecution],
  executions: ["a list of executions", (page) => Array.isArray(page) && page.every(isExecution)],
  lines: ["the log of an execution", (page) => Array.isArray(page) && page.every(isObject)],
  result: [
    "the result of an execution",
    (body) => isObject(body) && isText(body["_embedded"]?.status?.status),
  ],
  // As RFC 6750 has it; anything else could not be sent, and would be shown by what says so.
  token: [
    "an access token",
    (body) => isObject(body) && isText(body.access_token) && /^[\w.~+/-]+=*$/u.test(body.access_token),
  ],
};

/** @throws RequestRefused the answer is something else */
export function readAnswer(response, wanted) {
  const [name, isWanted] = WANTED[wanted];
  const body = readJson(response);
  if (!isWanted(body)) throw misread(response, name);
  return body;
}
