import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findTemporaryFolder } from "./temporary-folder.ts";

const IS_ROOT = process.getuid?.() === 0;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "temporary-folder-"));
  chmodSync(directory, 0o755);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

test("what TMPDIR names is used where versions can enter it", () => {
  vi.stubEnv("TMPDIR", directory);
  expect(findTemporaryFolder()).toBe(directory);
});

test("what TMPDIR names is not used where it is absent", () => {
  vi.stubEnv("TMPDIR", join(directory, "absent"));
  expect(findTemporaryFolder()).toBe("/tmp");
});

test("a TMPDIR that is closed to others is an ordinary user's, and not for the versions of root", () => {
  const inside = join(directory, "inside");
  mkdirSync(inside);
  chmodSync(directory, 0o700);
  vi.stubEnv("TMPDIR", inside);
  expect(findTemporaryFolder()).toBe(IS_ROOT ? "/tmp" : inside);
});
