import { expect, test } from "vitest";
import { RequestRefused } from "@platform/contract/client";
import { explainError, isNotFound, isUnauthenticated } from "./explain-error.ts";

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

test("a missing session and a missing resource are told apart", () => {
  expect(isUnauthenticated(refuse(401, "UNAUTHENTICATED"))).toBe(true);
  expect(isUnauthenticated(refuse(401, "INVALID_CREDENTIALS"))).toBe(false);
  expect(isNotFound(refuse(404, "EXECUTION_NOT_FOUND"))).toBe(true);
  expect(isNotFound(refuse(403, "FORBIDDEN"))).toBe(false);
});
