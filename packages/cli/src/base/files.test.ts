import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeOutputFolder, writeOutputFile } from "./files.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "output-files-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("a file is written with the folders above it, also by two at once, and into those that are there", async () => {
  await Promise.all(["1", "2"].map((name) => writeOutputFile(join(folder, "a/b", name), name)));
  await writeOutputFile(join(folder, "3"), "3");
  expect(await readdir(join(folder, "a/b"))).toEqual(["1", "2"]);
  expect(await readFile(join(folder, "3"), "utf8")).toBe("3");
});

test("a folder whose name, or that of one above it, is a file's is refused", async () => {
  await writeFile(join(folder, "file"), "");
  await expect(makeOutputFolder(join(folder, "file"))).rejects.toMatchObject({ code: "EEXIST" });
  await expect(makeOutputFolder(join(folder, "file/a"))).rejects.toMatchObject({ code: "EEXIST" });
});

// `recursive` of Node.js did not come back here, and kept the process from ending.
test.runIf(process.platform === "linux")("a folder that nobody can make is refused", async () => {
  await expect(makeOutputFolder("/proc/output/a")).rejects.toMatchObject({ code: "ENOENT" });
});
