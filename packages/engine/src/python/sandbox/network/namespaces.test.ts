import { expect, test } from "vitest";
import { holdNamespaces } from "./namespaces.ts";

test("the network of this machine is never held as that of a version: its routes would be overwritten", () => {
  expect(() => holdNamespaces("root", process.pid)).toThrow("the process has no net namespace of its own");
  expect(() => holdNamespaces("user", process.pid)).toThrow("the process has no net namespace of its own");
});
