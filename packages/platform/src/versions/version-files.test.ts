import { readFile, readdir, rm, stat, truncate, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { packProject } from "@platform/engine/project/pack";
import { createWorkspace, MINIMAL_PROJECT, writeFiles } from "@platform/engine/testing/project-fixtures";
import type { Workspace } from "@platform/engine/testing/project-fixtures";
import { removeUnused } from "@platform/engine/files/remove-unused";
import { DAY } from "@platform/engine/base/time";
import { createLocalObjects } from "../objects/local-objects.ts";
import { createVersionFiles } from "./version-files.ts";
import type { ArchivedProject, VersionFiles } from "./version-files.ts";

const PROGRAM = "src/program.py";

let workspace: Workspace;
let archived: ArchivedProject;
/** As after a restart: nothing is known. */
let start: () => VersionFiles;

beforeEach(async () => {
  workspace = await createWorkspace();
  const project = await writeFiles(join(workspace.path, "project"), {
    ...MINIMAL_PROJECT,
    "src/data/large.bin": "x".repeat(100_000),
  });
  const { archive, hash } = await packProject(project);
  const objects = createLocalObjects(join(workspace.path, "objects"));
  const object = await objects.receive(Readable.from([archive]), archive.length);
  await object.keep();
  archived = { archiveHash: object.hash, contentHash: hash };
  start = () => createVersionFiles({ directory: join(workspace.path, "versions"), objects });
});
afterEach(() => workspace.close());

test.each([
  ["an empty file", (folder: string) => truncate(join(folder, PROGRAM))],
  ["a missing file", (folder: string) => unlink(join(folder, PROGRAM))],
  ["a missing folder", (folder: string) => rm(join(folder, "src"), { recursive: true })],
  [
    "other content of the same length",
    (folder: string) => writeFile(join(folder, "src/data/large.bin"), "y".repeat(100_000)),
  ],
])(
  "an unpacked version with %s is found at its first use after a start, and made whole",
  async (_what, damage) => {
    const folder = await start().ensure(archived);
    const before = await readFile(join(folder, PROGRAM), "utf8");
    await damage(folder);
    expect(await start().ensure(archived)).toBe(folder);
    expect(await readFile(join(folder, PROGRAM), "utf8")).toBe(before);
    expect(await readFile(join(folder, "src/data/large.bin"), "utf8")).toBe("x".repeat(100_000));
    expect(await readdir(join(workspace.path, "versions"))).toEqual([archived.contentHash]);
  },
);

test("an unpacked version that is whole stays as it is, with what others have put beside its files", async () => {
  const folder = await start().ensure(archived);
  const { ino } = await stat(folder);
  await writeFile(join(folder, "src", "cache.pyc"), "");
  await start().ensure(archived);
  expect((await stat(folder)).ino).toBe(ino);
});

test("an unpacked version that is used is spared by the collector, also by one that is just moving it away", async () => {
  const files = start();
  const folder = await files.ensure(archived);
  await utimes(folder, 1, 1);
  await files.ensure(archived);
  const aside = join(workspace.path, "versions", "incoming-aside");
  expect(await removeUnused(folder, aside, Date.now() - DAY)).toBe(false);
  await utimes(folder, 1, 1);
  expect(await removeUnused(folder, aside, Date.now() - DAY)).toBe(true);
  expect(await readdir(await files.ensure(archived))).toContain("platform.json");
});
