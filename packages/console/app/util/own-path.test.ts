import { expect, test } from "vitest";
import { toOwnPath } from "./own-path.ts";

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
