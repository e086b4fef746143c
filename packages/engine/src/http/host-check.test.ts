import { expect, test } from "vitest";
import { createHostCheck } from "./host-check.ts";

const check = createHostCheck(["0.0.0.0", "Lab.example.org"], (name) => `Allow ${name}.`);

test.each([
  "localhost",
  "localhost:8081",
  "LOCALHOST:8081",
  "demo.localhost:8081",
  "127.0.0.1:8081",
  "[::1]:8081",
  "192.168.1.7:8081",
  "lab.example.org",
  undefined,
])("a request to %s is let in", async (host) => {
  await expect(check({ headers: { host } })).resolves.toBeUndefined();
});

test.each([
  "evil.example",
  "evil.example:8081",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "evil.example:80:8081",
  "[evil]:8081",
  "",
])("a request to '%s' is refused", async (host) => {
  await expect(check({ headers: { host } })).rejects.toMatchObject({ code: "FORBIDDEN" });
});
