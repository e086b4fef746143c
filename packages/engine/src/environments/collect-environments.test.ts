import { existsSync } from "node:fs";
import { mkdir, readdir, readlink, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DAY } from "../base/time.ts";
import { collectEnvironments } from "./collect-environments.ts";
import { createWorkspace } from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";

let workspace: Workspace;
let root: string;
beforeEach(async () => {
  workspace = await createWorkspace();
  root = join(workspace.path, "environments");
  await mkdir(root);
});
afterEach(() => workspace.close());

async function createBuild(name: string, days: number): Promise<void> {
  const then = new Date(Date.now() - days * DAY);
  await mkdir(join(root, name, "venv"), { recursive: true });
  await writeFile(join(root, `${name}.log`), "");
  for (const path of [name, `${name}.log`]) await utimes(join(root, path), then, then);
}

function collect(): Promise<number> {
  const now = Date.now();
  return collectEnvironments(workspace.path, { unusedSince: now - 7 * DAY, abandonedSince: now - DAY });
}

test("an environment that was not used for a week goes with link and log, one that was used stays", async () => {
  for (const [key, days] of [
    ["unused", 8],
    ["used", 6],
  ] as const) {
    await createBuild(`${key}-1`, days);
    await symlink(`${key}-1`, join(root, key));
  }
  expect(await collect()).toBe(1);
  expect((await readdir(root)).toSorted()).toEqual(["used", "used-1", "used-1.log"]);
  expect(await readlink(join(root, "used"))).toBe("used-1");
});

test("downloads go when their owner built nothing for a week, or a day after they had become too large", async () => {
  const caches = join(workspace.path, "cache");
  for (const [name, days] of [
    ["unused", 8],
    ["used", 6],
    ["large-1", 2],
    ["large-2", 0],
  ] as const) {
    const then = new Date(Date.now() - days * DAY);
    await mkdir(join(caches, name), { recursive: true });
    await utimes(join(caches, name), then, then);
  }
  expect(await collect()).toBe(2);
  expect((await readdir(caches)).toSorted()).toEqual(["large-2", "used"]);
});

test("what was prepared for an interpreter goes when nothing was built for a week, what was not finished after a day", async () => {
  const prepared = join(workspace.path, "prepared");
  for (const [name, days] of [
    ["v3-unused-2026-11", 8],
    ["v3-used-2026-11", 6],
    ["v3-used-2026-11.dead", 2],
    ["v3-used-2026-11.running", 0],
    ["v3-other-2026-11.unused", 8],
  ] as const) {
    const then = new Date(Date.now() - days * DAY);
    await mkdir(join(prepared, name, "venv"), { recursive: true });
    await utimes(join(prepared, name), then, then);
  }
  expect(await collect()).toBe(3);
  expect((await readdir(prepared)).toSorted()).toEqual(["v3-used-2026-11", "v3-used-2026-11.running"]);
});

test("what a dead build left behind goes after a day, a build that runs stays, and no directory is no error", async () => {
  await createBuild("dead-1", 2);
  await createBuild("running-1", 0);
  expect(await collect()).toBe(2);
  expect((await readdir(root)).toSorted()).toEqual(["running-1", "running-1.log"]);
  expect(
    await collectEnvironments(join(workspace.path, "nowhere"), { unusedSince: 0, abandonedSince: 0 }),
  ).toBe(0);
  expect(existsSync(join(root, "running-1", "venv"))).toBe(true);
});
