import { mkdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCliHome, waitFor } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";
import { watchProject } from "./watch-project.ts";
import type { ProjectWatcher } from "./watch-project.ts";

let home: CliHome;
let watcher: ProjectWatcher;
let directory = "";
let changes = 0;

beforeEach(async () => {
  home = await createCliHome();
  directory = await home.createProject("demo");
  changes = 0;
  watcher = await watchProject({
    directory,
    exclude: ["datapools"],
    include: [".env"],
    onChange: async () => {
      changes += 1;
    },
  });
});

afterEach(async () => {
  watcher.close();
  await home.close();
});

const waitForChanges = (count: number) =>
  waitFor(`change ${count}`, () => (changes >= count ? true : undefined));

test("files in folders that did not exist before are noticed", async () => {
  await mkdir(join(directory, "src/new/deep"), { recursive: true });
  await writeFile(join(directory, "src/new/deep/one.py"), "");
  await waitForChanges(1);
  await writeFile(join(directory, "src/new/deep/one.py"), "x = 1");
  expect(await waitForChanges(2)).toBe(true);
});

test("an editor that writes beside and renames is noticed, also within the same size and time", async () => {
  const path = join(directory, "src/program.py");
  const time = new Date(0);
  await writeFile(path, "a = 1");
  await utimes(path, time, time);
  await waitForChanges(1);
  const seen = changes;
  await writeFile(`${path}~`, "a = 2");
  await utimes(`${path}~`, time, time);
  await rename(`${path}~`, path);
  expect(await waitForChanges(seen + 1)).toBe(true);
});

test("a removed file is noticed", async () => {
  await rm(join(directory, "requirements.txt"));
  expect(await waitForChanges(1)).toBe(true);
});

test("ignored files and data pools are not, though a later edit is", async () => {
  await writeFile(join(directory, "run.log"), "ignored");
  await mkdir(join(directory, "datapools"));
  await writeFile(join(directory, "datapools/x"), "{}");
  await mkdir(join(directory, "src/__pycache__"));
  await writeFile(join(directory, "src/__pycache__/a.pyc"), "");
  await writeFile(join(directory, "src/program.py"), "x = 1");
  await waitForChanges(1);
  expect(changes).toBe(1);
});
