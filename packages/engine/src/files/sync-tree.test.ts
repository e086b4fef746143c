import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWorkspace, writeFiles } from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";
import { recordSyncs } from "../testing/record-syncs.ts";
import { syncTree } from "./sync-tree.ts";

let workspace: Workspace;
beforeEach(async () => {
  workspace = await createWorkspace();
});
afterEach(() => workspace.close());

test("every file and folder of a tree is written through, and nothing that a link or a pipe in it leads to", async () => {
  const tree = await writeFiles(join(workspace.path, "tree"), { "a/b/c.py": "x", "d.py": "y" });
  const outside = await writeFiles(join(workspace.path, "outside"), { secret: "z" });
  symlinkSync(outside, join(tree, "a", "link"));
  execFileSync("mkfifo", [join(tree, "pipe")]);
  const { paths, stop } = await recordSyncs();
  await syncTree(tree).finally(stop);
  expect(paths.sort()).toEqual(["", "/a", "/a/b", "/a/b/c.py", "/d.py"].map((path) => tree + path));
});

test("a sync that nobody waits for any more ends", async () => {
  await mkdir(join(workspace.path, "tree"));
  const reason = new Error("the build was cancelled");
  await expect(syncTree(join(workspace.path, "tree"), AbortSignal.abort(reason))).rejects.toBe(reason);
});
