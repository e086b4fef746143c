import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readlink, rm, symlink, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { DAY } from "@platform/engine/base/time";
import { openEnvironmentScene, WHEEL } from "@platform/engine/testing/environment-scene";
import { createWheel, MINIMAL_PROJECT } from "@platform/engine/testing/project-fixtures";
import { createFixture } from "@platform/engine/testing/python-fixture";
import { waitFor } from "../testing/cli-process.ts";
import { serveProject } from "../testing/served-project.ts";
import { collectUnused } from "./environment-collection.ts";
import { createLocalVersions } from "./local-versions.ts";

const [OLD, RECENT] = ["old", "recent"].map(
  (word) => `v3-${createHash("sha256").update(word).digest("hex")}`,
) as [string, string];

/** What servers have left in a cache that used it 61 and 59 days ago. Returns what is removed last. */
async function leaveEnvironments(cache: string): Promise<string> {
  const environments = join(cache, "environments");
  for (const [key, days] of [
    [OLD, 61],
    [RECENT, 59],
  ] as const) {
    await mkdir(join(environments, `${key}-1`, "venv"), { recursive: true });
    await symlink(`${key}-1`, join(environments, key));
    await setUse(join(environments, `${key}-1`), days);
  }
  const pip = join(cache, "prepared", `${OLD}-2026-01`);
  await mkdir(pip, { recursive: true });
  await setUse(pip, 61);
  return pip;
}

async function setUse(path: string, days: number): Promise<void> {
  const then = new Date(Date.now() - days * DAY);
  await utimes(path, then, then);
}

async function listKeys(cache: string): Promise<readonly string[]> {
  const names = await readdir(join(cache, "environments"));
  return names.filter((name) => /^v\d+-[0-9a-f]{64}$/u.test(name)).toSorted();
}

test("a server removes what none has used for two months", async () => {
  const cache = await mkdtemp(join(tmpdir(), "platform-cache-"));
  await chmod(cache, 0o755);
  onTestFinished(() => rm(cache, { recursive: true }));
  const last = await leaveEnvironments(cache);
  const project = await serveProject("def run():\n    return {}\n", {
    variables: { PLATFORM_CACHE_DIR: cache },
  });
  try {
    await waitFor("the last is gone", () => (existsSync(last) ? undefined : true));
    expect(await listKeys(cache)).toEqual([RECENT]);
  } finally {
    await project.close();
  }
});

test(
  "a server that runs keeps its environment, however long ago it has found it",
  { tags: "full" },
  async () => {
    const scene = await openEnvironmentScene();
    const fixture = await createFixture();
    onTestFinished(async () => {
      await fixture.close();
      await scene.close();
    });
    const cache = join(scene.path, "cache");
    const versions = createLocalVersions({
      projectDirectory: await scene.createProject("project", {
        ...MINIMAL_PROJECT,
        "requirements.txt": `./${WHEEL}\n`,
        [WHEEL]: createWheel("tiny", { "tiny.py": "" }),
      }),
      exclude: [],
      versionsDirectory: fixture.directory,
      environments: scene.builder,
      runtime: fixture.runtime,
      capacity: { cpu: 1, memory: 1 },
      hasUnfinished: async () => true,
      onBuildLine: () => undefined,
      signal: new AbortController().signal,
    });
    await versions.load();
    const [own = ""] = await listKeys(cache);
    await setUse(join(cache, "environments", await readlink(join(cache, "environments", own))), 100);
    await leaveEnvironments(cache);
    await collectUnused({ directory: cache, versions }, new AbortController().signal);
    expect(await listKeys(cache)).toEqual([own, RECENT].toSorted());
  },
);
