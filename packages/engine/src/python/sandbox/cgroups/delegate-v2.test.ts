import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { spawnTrusted } from "../../../host/processes.ts";
import { TrustedExecutable } from "../../../host/trusted-executable.ts";
import { findUnified } from "../../../testing/unified-groups.ts";
import { V2_CONTROLLERS } from "./cgroups-v2.ts";
import { delegateV2 } from "./delegate-v2.ts";
import { listProcesses } from "./group-files.ts";
import { nameWorker, REST } from "./names.ts";
import { removeTrees } from "./remove-groups.ts";

function readWords(folder: string, file: string): readonly string[] {
  return readFileSync(join(folder, file), "latin1").split(/\s+/u).filter(Boolean);
}

const unified = findUnified();
const available = unified === null ? [] : readWords(unified.top, "cgroup.controllers");
/** The rules are the same for each controller: where v1 has those that runs need, v2 may have another one. */
const controllers = V2_CONTROLLERS.every((name) => available.includes(name))
  ? V2_CONTROLLERS
  : available.slice(0, 1);
const lack =
  controllers.length === 0 ? " (skipped: this needs root and a v2 hierarchy that has controllers)" : "";

/** Starts a shell in the group, as npm is in that of a service, with a process of its own. Resolves to the ids of both. */
async function startInside(group: string): Promise<readonly number[]> {
  const shell = spawnTrusted(
    TrustedExecutable.vouchFor("/bin/sh", "search path"),
    ["-c", 'echo 0 > "$0"/cgroup.procs && { sleep 60 & echo up; wait; }', group],
    { env: { PATH: "/usr/bin:/bin" }, stdio: ["ignore", "pipe", "ignore"] },
  );
  await new Promise((resolve) => shell.stdout?.once("data", resolve));
  return listProcesses(group);
}

describe.runIf(lack === "")(`groups of v2 that a worker may divide${lack}`, () => {
  const { folder, top } = unified ?? { folder: "", top: "" };
  let parent: string;
  let added: readonly string[] = [];
  beforeAll(() => {
    const before = readWords(folder, "cgroup.subtree_control");
    parent = delegateV2({ folder, top }, controllers);
    if (parent === folder) added = controllers.filter((name) => !before.includes(name));
  });
  afterAll(() => {
    writeFileSync(join(parent, "cgroup.subtree_control"), added.map((name) => `-${name}`).join(" "));
  });

  let base: string;
  beforeEach(() => {
    base = join(parent, nameWorker());
    mkdirSync(base);
  });
  afterEach(async () => {
    if (!(await removeTrees([base]))) throw new Error("groups are left");
  });

  test("processes in a worker's group, such as what started it, are moved below it: else its runs get no controllers", async () => {
    const inside = await startInside(base);
    expect(inside).toHaveLength(2);
    expect(delegateV2({ folder: base, top }, controllers)).toBe(base);
    expect(listProcesses(base)).toEqual([]);
    expect(listProcesses(join(base, REST))).toEqual(inside);
    expect(readWords(base, "cgroup.subtree_control")).toEqual(expect.arrayContaining([...controllers]));
  });

  test("a worker that is started from there later uses the same group", async () => {
    await startInside(base);
    delegateV2({ folder: base, top }, controllers);
    expect(delegateV2({ folder: join(base, REST), top }, controllers)).toBe(base);
  });

  test("where the own group has no controllers, root uses the root of the hierarchy", () => {
    const closed = join(base, "closed");
    mkdirSync(closed);
    expect(delegateV2({ folder: closed, top }, controllers)).toBe(top);
    expect(() => delegateV2({ folder: closed, top: base }, controllers)).toThrow(
      `the controllers ${controllers.join(", ")} are not available in ${closed}`,
    );
  });
});
