import { RequestRefused } from "@platform/contract/client";
import { expect, test } from "vitest";
import { toInterval } from "./queries.ts";

function refuse(status: number): RequestRefused {
  return new RequestRefused(status, { code: "ANY", detail: "Refused." });
}

const refresh = () => 2_000;

test("what has failed for now is asked for again as before, what was refused for good is not", () => {
  const data = { nextSeq: "1" };
  expect(toInterval(refresh, { data, error: null })).toBe(2_000);
  // A page of a proxy is no refusal: neither with an error's status, nor with a success's, as a text that is no JSON.
  const signedOut = new RequestRefused(401, { code: "UNAUTHENTICATED", detail: "Sign in again." });
  const ofProxy = [new RequestRefused(404, { code: "HTTP_404", detail: "." }), new SyntaxError("<html>")];
  for (const error of [refuse(503), refuse(429), new TypeError("Failed to fetch"), signedOut, ...ofProxy]) {
    expect(toInterval(refresh, { data, error })).toBe(2_000);
    expect(toInterval(15_000, { data: undefined, error })).toBe(15_000);
  }
  for (const error of [refuse(410), refuse(403), refuse(404)]) {
    expect(toInterval(refresh, { data, error })).toBe(false);
    expect(toInterval(15_000, { data, error })).toBe(false);
  }
});
