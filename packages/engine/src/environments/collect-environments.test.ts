import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readlink, rm, symlink, utimes, writeFile } from "node:fs/promises";
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

/** As builders name things, with a word in place of a hash. */
const hash = (word: string) => createHash("sha256").update(word).digest("hex");
const keyOf = (word: string) => `v3-${hash(word)}`;
const ownerOf = (word: string) => hash(word).slice(0, 32);

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
    await createBuild(`${keyOf(key)}-1`, days);
    await symlink(`${keyOf(key)}-1`, join(root, keyOf(key)));
  }
  expect(await collect()).toBe(1);
  const used = keyOf("used");
  expect((await readdir(root)).toSorted()).toEqual([used, `${used}-1`, `${used}-1.log`]);
  expect(await readlink(join(root, used))).toBe(`${used}-1`);
});

test("downloads go when their owner built nothing for a week, or a day after they had become too large", async () => {
  const caches = join(workspace.path, "cache");
  const large = `${ownerOf("large")}-000000000002`;
  for (const [name, days] of [
    [ownerOf("unused"), 8],
    [ownerOf("used"), 6],
    [`${ownerOf("large")}-000000000001`, 2],
    [large, 0],
  ] as const) {
    const then = new Date(Date.now() - days * DAY);
    await mkdir(join(caches, name), { recursive: true });
    await utimes(join(caches, name), then, then);
  }
  expect(await collect()).toBe(2);
  expect((await readdir(caches)).toSorted()).toEqual([large, ownerOf("used")].toSorted());
});

test("what was prepared for an interpreter goes when nothing was built for a week, what was not finished after a day", async () => {
  const prepared = join(workspace.path, "prepared");
  const used = `${keyOf("used")}-2026-11`;
  const running = `${used}.000000000001`;
  for (const [name, days] of [
    [`${keyOf("unused")}-2026-11`, 8],
    [used, 6],
    [`${used}.0000000dead0`, 2],
    [running, 0],
    [`${keyOf("other")}-2026-11.unused`, 8],
  ] as const) {
    const then = new Date(Date.now() - days * DAY);
    await mkdir(join(prepared, name, "venv"), { recursive: true });
    await utimes(join(prepared, name), then, then);
  }
  expect(await collect()).toBe(3);
  expect((await readdir(prepared)).toSorted()).toEqual([used, running]);
});

test("what a dead build left behind goes after a day, a build that runs stays, and no directory is no error", async () => {
  const running = `${keyOf("running")}-1`;
  await createBuild(`${keyOf("dead")}-1`, 2);
  await createBuild(running, 0);
  expect(await collect()).toBe(2);
  expect((await readdir(root)).toSorted()).toEqual([running, `${running}.log`]);
  expect(
    await collectEnvironments(join(workspace.path, "nowhere"), { unusedSince: 0, abandonedSince: 0 }),
  ).toBe(0);
  expect(existsSync(join(root, running, "venv"))).toBe(true);
});

test("what cannot be removed keeps nothing else from it, and is named at the end", async () => {
  for (const word of ["one", "two", "three"]) {
    await createBuild(`${keyOf(word)}-1`, 8);
    await symlink(`${keyOf(word)}-1`, join(root, keyOf(word)));
  }
  // In place of a log.
  const inTheWay = join(root, `${keyOf("two")}-1.log`);
  await rm(inTheWay);
  await mkdir(inTheWay);
  await expect(collect()).rejects.toThrow(join(root, `${keyOf("two")}-1: `));
  expect((await readdir(root)).filter((name) => !name.startsWith(keyOf("two")))).toEqual([]);
});

test("nothing more is removed once the server ends", async () => {
  await createBuild(`${keyOf("dead")}-1`, 2);
  const cutoffs = { unusedSince: 0, abandonedSince: Date.now(), signal: AbortSignal.abort() };
  expect(await collectEnvironments(workspace.path, cutoffs)).toBe(0);
  expect(await readdir(root)).toHaveLength(2);
});

test("what no builder has made stays, however old it is: the folder of a user's cache may be anything", async () => {
  const [long, short] = [hash("strange"), ownerOf("strange")];
  const strange = ["terraform", "v2-of-mine", "cafe", long.slice(1), `${long}-init`, `${short}.json`];
  for (const folder of ["environments", "cache", "prepared"])
    for (const name of strange) {
      const path = join(workspace.path, folder, name);
      const then = new Date(Date.now() - 100 * DAY);
      await mkdir(path, { recursive: true });
      await utimes(path, then, then);
    }
  await symlink("terraform", join(root, keyOf("elsewhere")));
  await collect();
  for (const folder of ["environments", "cache", "prepared"])
    expect(await readdir(join(workspace.path, folder))).toEqual(expect.arrayContaining(strange));
});
