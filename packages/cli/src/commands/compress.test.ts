import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCliHome } from "../testing/cli-process.ts";
import type { CliHome } from "../testing/cli-process.ts";

let home: CliHome;
let project = "";

beforeEach(async () => {
  home = await createCliHome();
  project = await home.createProject("demo");
});

afterEach(() => home.close());

const compress = async (...words: readonly string[]) => {
  const outcome = await home.run(["compress", "--json", ...words], { folder: "demo" });
  expect(outcome.exitCode).toBe(0);
  return JSON.parse(outcome.stdout) as { path: string; hash: string; files: number };
};

test("it writes <name>.zip, and the same project twice gives the same bytes and hash", async () => {
  const first = await compress();
  const bytes = await readFile(first.path);
  const second = await compress();

  expect(first.path).toBe(join(project, "demo.zip"));
  expect(bytes.subarray(0, 2).toString("latin1")).toBe("PK");
  expect(second).toEqual(first);
  expect((await readFile(second.path)).equals(bytes)).toBe(true);
});

test("an archive written inside the project is no part of the next one", async () => {
  const first = await compress("-o", "build/out.bin");
  expect(await compress("-o", "build/out.bin")).toEqual(first);
});

test("what .platformignore names is left out, secrets and caches always", async () => {
  const before = await compress();
  await mkdir(join(project, ".git"));
  await mkdir(join(project, "secret"));
  await writeFile(join(project, ".git/config"), "[core]");
  await writeFile(join(project, ".env"), "TOKEN=1");
  await writeFile(join(project, "notes.log"), "ignored by the template");
  expect(await compress()).toEqual(before);

  await writeFile(join(project, "secret/key.txt"), "k");
  const withSecret = await compress();
  expect(withSecret.files).toBe(before.files + 1);
  expect(withSecret.hash).not.toBe(before.hash);

  await appendFile(join(project, ".platformignore"), "secret/\n");
  expect((await compress()).files).toBe(before.files);
});

test("a project without src/program.py is refused with the file's name", async () => {
  await appendFile(join(project, ".platformignore"), "src/\n");
  const { exitCode, stderr } = await home.run(["compress"], { folder: "demo" });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("src/program.py");
});
