import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createForerunner } from "./forerunner.ts";

test.runIf(process.platform === "linux")("who sends a forerunner stays in its groups", async () => {
  const before = readFileSync("/proc/self/cgroup", "utf8");
  const send = createForerunner();
  send();
  send();
  await new Promise(setImmediate);
  expect(readFileSync("/proc/self/cgroup", "utf8")).toBe(before);
});
