import { afterEach, expect, test, vi } from "vitest";
import { hasToken, keepNext, takeNext, toOwnPath } from "./own-path.ts";

test("a path of the console is gone to, with its parameters", () => {
  expect(toOwnPath("/o/acme/applications?new=application#x")).toBe("/o/acme/applications?new=application#x");
});

test.each([
  "//evil.example",
  "/\\evil.example",
  "https://evil.example/",
  "javascript:alert(1)",
  "/\t/evil.example",
  "/.//evil.example",
  "/a/..//evil.example/x",
  "evil",
  "",
  undefined,
])("%s leads to the first page", (next) => {
  expect(toOwnPath(next)).toBe("/");
});

afterEach(() => vi.unstubAllGlobals());

test("what is kept while the browser is elsewhere has no token of a link", () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  });
  keepNext("/o/acme/applications?new=application");
  expect(takeNext()).toBe("/o/acme/applications?new=application");
  for (const path of ["/invitations/t0ken", "/x/../verify-email/t0ken", "/reset-password/t0ken?a=b"]) {
    keepNext(path);
    expect([hasToken(path), [...kept.values()]]).toEqual([true, ["/"]]);
    expect(takeNext()).toBe("/");
  }
  expect(["/reset-password", "/o/invitations/x", undefined].filter(hasToken)).toEqual([]);
});
