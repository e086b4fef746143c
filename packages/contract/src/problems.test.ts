import { describe, expect, test } from "vitest";
import { BUILD_FAILURES, FAILURES, PROBLEMS, Problem } from "./problems.ts";

/** Code, HTTP status, and whether the same request may succeed later. Callers rely on each: a line here changes only with a new major version. */
const PUBLISHED = [
  ["INVALID_JSON", 400, false],
  ["INVALID_INPUT", 400, false],
  ["INVALID_PROJECT", 400, false],
  ["INVALID_ARCHIVE", 400, false],
  ["CHECKSUM_MISMATCH", 400, true],
  ["MAX_COST_EXCEEDED", 400, false],
  ["UNAUTHENTICATED", 401, false],
  ["AUTHORIZATION_PENDING", 400, true],
  ["SLOW_DOWN", 400, true],
  ["EXPIRED_TOKEN", 400, false],
  ["ACCESS_DENIED", 400, false],
  ["INVALID_CREDENTIALS", 401, false],
  ["FORBIDDEN", 403, false],
  ["NOT_SUBSCRIBED", 403, false],
  ["SUBSCRIPTION_ENDED", 403, false],
  ["NOT_FOUND", 404, false],
  ["SERVICE_NOT_FOUND", 404, false],
  ["BACKEND_NOT_FOUND", 404, false],
  ["EXECUTION_NOT_FOUND", 404, false],
  ["RESULT_NOT_READY", 404, true],
  ["METHOD_NOT_ALLOWED", 405, false],
  ["NOT_ACCEPTABLE", 406, false],
  ["REQUEST_TIMEOUT", 408, true],
  ["CONFLICT", 409, false],
  ["NO_NORMAL_FORM", 409, false],
  ["IDEMPOTENCY_CONFLICT", 409, false],
  ["LAST_OWNER", 409, false],
  ["LINK_EXPIRED", 410, false],
  ["RESULT_EXPIRED", 410, false],
  ["LOG_EXPIRED", 410, false],
  ["INPUT_EXPIRED", 410, false],
  ["CURSOR_EXPIRED", 410, false],
  ["NOT_SHARED", 403, false],
  ["VERSION_RETIRED", 410, false],
  ["UPLOAD_EXPIRED", 410, false],
  ["TUS_VERSION_UNSUPPORTED", 412, false],
  ["INPUT_TOO_LARGE", 413, false],
  ["ARCHIVE_TOO_LARGE", 413, false],
  ["FILE_TOO_LARGE", 413, false],
  ["UNSUPPORTED_MEDIA_TYPE", 415, false],
  ["RANGE_NOT_SATISFIABLE", 416, false],
  ["DATA_REFERENCE_INVALID", 422, false],
  ["UPLOAD_LOCKED", 423, true],
  ["RATE_LIMITED", 429, true],
  ["QUOTA_EXCEEDED", 429, false],
  ["UPLOAD_CHECKSUM_MISMATCH", 460, true],
  ["INTERNAL_ERROR", 500, true],
  ["UNAVAILABLE", 503, true],
] as const;

describe("the codes of refused requests", () => {
  test.each(PUBLISHED)("%s is answered with %i; may succeed later: %s", (code, status, retryable) => {
    expect(PROBLEMS[code]).toMatchObject({ status, retryable });
  });

  test("are all in the list", () => {
    expect(Object.keys(PROBLEMS).sort()).toEqual(PUBLISHED.map(([code]) => code).toSorted());
  });
});

test.each(
  Object.entries({ PROBLEMS, FAILURES, BUILD_FAILURES }).flatMap(([table, codes]) =>
    Object.entries(codes).map(
      ([code, rule]) => [table, code, typeof rule === "string" ? rule : rule.detail] as const,
    ),
  ),
)("in %s, %s is an upper-case word with a sentence", (_table, code, detail) => {
  expect(code).toMatch(/^[A-Z]+(?:_[A-Z]+)*$/);
  expect(detail).toMatch(/^[A-Z].+\.$|^(?:platform\.json|src\/).+\.$/);
});

describe("a problem", () => {
  test("has the status and the text of its code", () => {
    const problem = new Problem("EXECUTION_NOT_FOUND");
    expect([problem.status, problem.headers, problem.toBody()]).toEqual([
      404,
      {},
      { code: "EXECUTION_NOT_FOUND", detail: "There is no such execution." },
    ]);
  });

  test("may say more: a text of its own, fields, headers and its cause", () => {
    const cause = new Error("deeper");
    const errors = [{ path: "/data", message: "is missing" }];
    const problem = new Problem("INVALID_INPUT", "No data.", {
      errors,
      headers: { "retry-after": "5" },
      cause,
    });
    expect(problem).toMatchObject({ message: "No data.", headers: { "retry-after": "5" }, cause });
    expect(problem.toBody()).toEqual({ code: "INVALID_INPUT", detail: "No data.", errors });
  });
});
