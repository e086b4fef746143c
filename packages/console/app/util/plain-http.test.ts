import { expect, test } from "vitest";
import { isReadOnTheWay } from "./plain-http.ts";

test.each([
  ["http://platform.example:8090", true],
  ["http://192.168.1.20:8090", true],
  ["http://127.example.org", true],
  ["http://localhost.example.org", true],
  ["http://[fe80::1]:8090", true],
  ["https://platform.example", false],
  ["http://localhost:8090", false],
  ["http://console.localhost", false],
  ["http://127.0.0.1:8090", false],
  ["http://127.1", false],
  ["http://[::1]:8090", false],
])("what is sent to %s can be read on the way: %s", (url, expected) => {
  expect(isReadOnTheWay(url)).toBe(expected);
});
