import { expect, test } from "vitest";
import { RequestRefused } from "@platform/contract/client";
import { explainError, isForbidden, isNotFound, isOfWhatIsSent, isUnauthenticated } from "./explain-error.ts";

const refuse = (status: number, code: string, more = {}) =>
  new RequestRefused(status, { code, detail: "As it was said.", ...more });

test("a refusal is explained in the platform's words, with its code and its fields", () => {
  const errors = [{ path: "/name", message: "is too long" }];
  const explained = explainError(refuse(400, "INVALID_INPUT", { errors }));
  expect(explained).toEqual({
    title: "The request was refused",
    detail: "As it was said.",
    code: "INVALID_INPUT",
    fields: errors,
    isRetryable: false,
  });
});

test("a fault of the platform has the id of the request, and can be tried again", () => {
  const explained = explainError(refuse(500, "INTERNAL_ERROR", { requestId: "r-1" }));
  expect(explained).toMatchObject({ title: "The platform has failed", requestId: "r-1", isRetryable: true });
});

test("a lost connection is said to be one", () => {
  expect(explainError(new TypeError("fetch failed"))).toMatchObject({
    title: "The platform cannot be reached",
    isRetryable: true,
  });
});

test("what something before the platform answers is no word of the platform's", () => {
  const given = refuse(404, "HTTP_404");
  expect(explainError(given)).toMatchObject({ title: "The platform cannot be reached", isRetryable: true });
  expect(isNotFound(given)).toBe(false);
  expect(isForbidden(refuse(403, "HTTP_403"))).toBe(false);
  expect(isForbidden(refuse(403, "FORBIDDEN"))).toBe(true);
  // What is too large is so for the platform behind it as well, as far as can be known.
  const large = refuse(413, "HTTP_413");
  expect(explainError(large)).toMatchObject({ title: "This is too large", isRetryable: false });
  expect(isOfWhatIsSent(large)).toBe(true);
});

test("a missing session and a missing resource are told apart", () => {
  expect(isUnauthenticated(refuse(401, "UNAUTHENTICATED"))).toBe(true);
  expect(isUnauthenticated(refuse(401, "INVALID_CREDENTIALS"))).toBe(false);
  expect(isNotFound(refuse(404, "EXECUTION_NOT_FOUND"))).toBe(true);
  expect(isNotFound(refuse(403, "FORBIDDEN"))).toBe(false);
});

test("a file that the platform takes of nobody is told apart from one that it does not take now", () => {
  expect(isOfWhatIsSent(refuse(400, "INVALID_INPUT"))).toBe(true);
  expect(isOfWhatIsSent(refuse(413, "FILE_TOO_LARGE"))).toBe(true);
  expect(isOfWhatIsSent(refuse(400, "INVALID_PROJECT"))).toBe(true);
  expect(isOfWhatIsSent(refuse(503, "UNAVAILABLE"))).toBe(false);
  expect(isOfWhatIsSent(refuse(429, "QUOTA_EXCEEDED"))).toBe(false);
  expect(isOfWhatIsSent(refuse(410, "UPLOAD_EXPIRED"))).toBe(false);
  expect(isOfWhatIsSent(new TypeError("fetch failed"))).toBe(false);
});
