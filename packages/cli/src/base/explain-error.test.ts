import { expect, test } from "vitest";
import { RequestRefused } from "@platform/contract/client";
import { explainError } from "./explain-error.ts";

test.each([
  [
    "one that the schema refuses",
    "body/limits/perMonth must be >= 1.",
    [{ path: "/limits/perMonth", message: "must be >= 1." }],
    "limits.perMonth must be >= 1.",
    ["limits.perMonth must be >= 1."],
  ],
  [
    "one that a rule refuses, without a period",
    "/planId is missing; choose one of pro.",
    [{ path: "/planId", message: "is missing; choose one of pro" }],
    "planId is missing; choose one of pro.",
    ["planId is missing; choose one of pro."],
  ],
  [
    "none in particular",
    "body must not have the property role.",
    [{ path: "", message: "must not have the property role." }],
    "The request must not have the property role.",
    ["The request must not have the property role."],
  ],
  [
    "one whose reason the text repeats",
    'platform.json: name is "a".',
    [{ path: "/name", message: 'name is "a".' }],
    'platform.json: name is "a".',
    ['name is "a".'],
  ],
  [
    "two that the text does not name",
    "The project is invalid; `errors` lists what is wrong.",
    [
      { path: "/cpu", message: "is 0." },
      { path: "/name", message: "is missing." },
    ],
    "The project is invalid; `errors` lists what is wrong.",
    ["cpu: is 0.", "name: is missing."],
  ],
])(
  "the fields of a refused request, %s, are called by their names",
  (_what, detail, errors, text, details) => {
    const refused = new RequestRefused(400, { code: "INVALID_INPUT", detail, errors });
    const explained = explainError(refused, { endpoint: "http://localhost", isInterrupted: false });
    expect([explained?.message, explained?.details]).toEqual([text, details]);
  },
);

test("who reaches a limit is given the platform's advice alone, since it is another one for each limit", () => {
  const detail = "The user has 100 valid personal access tokens, which is the limit; revoke one first.";
  const refused = new RequestRefused(429, { code: "QUOTA_EXCEEDED", detail });
  const explained = explainError(refused, { endpoint: "http://localhost", isInterrupted: false });
  expect([explained?.message, explained?.hint]).toEqual([detail, undefined]);
});

test("who is forbidden something is advised on login and organisation, but not where a value is what is forbidden", () => {
  const detail = "The operator does not allow the priority high.";
  const explain = (errors?: readonly { readonly path: string; readonly message: string }[]) => {
    const problem = {
      code: "FORBIDDEN" as const,
      detail,
      ...(errors === undefined ? {} : { errors: [...errors] }),
    };
    const refused = new RequestRefused(403, problem);
    return explainError(refused, { endpoint: "http://localhost", isInterrupted: false });
  };
  expect(explain()?.hint).toContain("platform login");
  const ofValue = explain([{ path: "/policy/priority", message: detail }]);
  expect([ofValue?.message, ofValue?.details, ofValue?.hint]).toEqual([detail, [detail], undefined]);
});

function adviseOnMissing(detail: string): string {
  const refused = new RequestRefused(404, { code: "NOT_FOUND", detail });
  const endpoint = "http://localhost:8080";
  const explained = explainError(refused, {
    endpoint,
    isInterrupted: false,
    listCommand: "platform pools ls",
  });
  return explained?.hint ?? "";
}

test("who asks where nothing is, such as a gateway, is advised on the endpoint, and else on what there is", () => {
  const advice = adviseOnMissing("There is nothing at /quantum/jobs?page=0.");
  expect(advice).toContain("http://localhost:8080");
  expect(advice).toContain("not of the gateway");
  expect(adviseOnMissing("There is no such pool.")).toContain("platform pools ls");
});

test("who has a bad token is advised on the place that it comes from", () => {
  const refused = new RequestRefused(401, { code: "UNAUTHENTICATED", detail: "It is not valid." });
  const here = { endpoint: "http://localhost", isInterrupted: false };
  const advise = (more: { readonly tokenFrom?: "variable" | "login" }) =>
    explainError(refused, { ...here, ...more })?.hint;
  expect(advise({ tokenFrom: "variable" })).toContain("unset it");
  expect(advise({ tokenFrom: "login" })).toContain("Copy the whole token");
  expect(advise({})).toContain("Log in again with 'platform login'");
});

test("a folder in place of a file is said to be one, although the system does not say which it was", () => {
  const thrown = Object.assign(new Error("EISDIR: illegal operation on a directory, read"), {
    code: "EISDIR",
  });
  expect(explainError(thrown, { endpoint: "http://localhost", isInterrupted: false })).toMatchObject({
    code: "FILE_ERROR",
    message: "What is to be read as a file is a folder.",
  });
});
