import { writeFile } from "node:fs/promises";
import { Problem } from "@platform/contract/problems";
import { expect, test } from "vitest";
import { EmbeddedPostgresError } from "../postgres/errors.ts";
import { SettingError } from "../config/settings.ts";
import { StartError, describeStartError, describeSystemError } from "./start-error.ts";

test.each([
  new StartError("Choose another port."),
  new SettingError("--role is wrong."),
  new EmbeddedPostgresError("PostgreSQL does not start."),
])("what the operator can change is one sentence without a stack: $name", (error) => {
  expect(describeStartError(error)).toBe(error.message);
});

test("a database that cannot be reached is named with the reasons of all its addresses", () => {
  const cause = new AggregateError(
    [new Error("connect ECONNREFUSED ::1"), new Error("connect ETIMEDOUT")],
    "",
  );
  const text = describeStartError(new Problem("UNAVAILABLE", undefined, { cause }));
  expect(text).toBe(
    "The database cannot be used: Error: connect ECONNREFUSED ::1; Error: connect ETIMEDOUT. Is DATABASE_URL right, and does the server run?",
  );
});

test("a disk that is full when something is written is a sentence, whatever it was", async () => {
  const full = await writeFile("/dev/full", "x").catch((error: unknown) => error);
  expect(describeStartError(full)).toBe(
    "The platform cannot start: the disk is full (ENOSPC: no space left on device, write).",
  );
});

test("anything else is a bug of ours and shows where it happened", () => {
  expect(describeStartError(new TypeError("x is not a function"))).toMatch(
    /^TypeError: x is not a function\n\s+at .*start-error\.test\.ts/,
  );
  expect(describeStartError("a thrown text")).toBe("a thrown text");
});

test("only errors of the operating system that an operator meets have words", () => {
  expect(describeSystemError(Object.assign(new Error(), { code: "EROFS" }))).toBe(
    "the file system is read-only",
  );
  expect(describeSystemError(Object.assign(new Error(), { code: "EBADF" }))).toBeNull();
  expect(describeSystemError(new Error("EACCES"))).toBeNull();
});
