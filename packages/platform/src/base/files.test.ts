import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeFolder } from "./files.ts";

let root = "";

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "make-folder-"));
});

afterEach(() => rm(root, { recursive: true, force: true }));

test("makes a folder with those above it, however many ask at a time", async () => {
  const path = join(root, "a", "b", "c");
  await Promise.all([makeFolder(path), makeFolder(path), makeFolder(join(root, "a", "d"))]);
  await makeFolder(path);
  expect((await stat(path)).isDirectory()).toBe(true);
});

test("a file in the way is no folder", async () => {
  await writeFile(join(root, "file"), "");
  await expect(makeFolder(join(root, "file"))).rejects.toMatchObject({ code: "EEXIST" });
  await expect(makeFolder(join(root, "file", "below"))).rejects.toMatchObject({ code: "ENOTDIR" });
});

test.runIf(process.platform === "linux")(
  "where no folder can be made it fails instead of trying for ever",
  async () => {
    await expect(makeFolder("/proc/platform/data")).rejects.toMatchObject({ code: "ENOENT" });
  },
);
