import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWorkspace } from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";
import { measureWithin, watchSize } from "./watch-disk.ts";

let workspace: Workspace;
beforeEach(async () => {
  workspace = await createWorkspace();
});
afterEach(() => workspace.close());

test("a folder is measured with all below it, without following links; a missing one is empty", async () => {
  await mkdir(join(workspace.path, "a", "b"), { recursive: true });
  await writeFile(join(workspace.path, "a", "b", "file"), Buffer.alloc(100_000, "x"));
  await symlink("/", join(workspace.path, "root"));
  expect(await measureWithin(workspace.path, { bytes: 200_000, entries: 10 })).toBeGreaterThanOrEqual(
    100_000,
  );
  expect(await measureWithin(workspace.path, { bytes: 99_999, entries: 10 })).toBeNull();
  expect(await measureWithin(workspace.path, { bytes: 200_000, entries: 3 })).toBeNull();
  expect(await measureWithin(join(workspace.path, "nowhere"), { bytes: 0, entries: 0 })).toBe(0);
});

test("a folder that grows beyond the limit while it is watched is noticed, once", async () => {
  let noticed = 0;
  const stop = watchSize(workspace.path, { bytes: 50_000, entries: 10 }, () => (noticed += 1), 10);
  await writeFile(join(workspace.path, "small"), "");
  await writeFile(join(workspace.path, "large"), Buffer.alloc(100_000, "x"));
  await expect.poll(() => noticed).toBe(1);
  stop();
});
