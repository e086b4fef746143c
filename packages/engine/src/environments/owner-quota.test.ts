import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWorkspace } from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";
import { checkOwnerQuota, noteOwner } from "./owner-quota.ts";

let workspace: Workspace;
beforeEach(async () => {
  workspace = await createWorkspace();
});
afterEach(() => workspace.close());

async function createEnvironment(name: string, owner: string | null, bytes: number): Promise<void> {
  await mkdir(join(workspace.path, name));
  await noteOwner(join(workspace.path, name), owner, bytes);
}

test("each environment of an owner counts once, whatever links to it; those of others and of all do not", async () => {
  await createEnvironment("own-1", "own", 600);
  await symlink("own-1", join(workspace.path, "own"));
  await createEnvironment("other-1", "other", 5000);
  await createEnvironment("shared-1", null, 5000);
  await mkdir(join(workspace.path, "building-1"));
  const check = (owner: string | null): Promise<void> =>
    checkOwnerQuota({ environments: workspace.path, ownerBytes: 1000 }, owner);
  await createEnvironment("own-2", "own", 399);
  await check("own");
  await createEnvironment("own-3", "own", 1);
  await expect(check("own")).rejects.toMatchObject({ code: "BUILD_FAILED" });
  await check(null);
});
