import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  BUILD_UIDS,
  isRoot,
  openEnvironmentScene,
  OWNER,
  runIn,
  WHEEL,
} from "../testing/environment-scene.ts";
import type { EnvironmentScene } from "../testing/environment-scene.ts";
import { SECOND } from "../base/time.ts";
import { findTestSandbox } from "../testing/python-fixture.ts";
import type { Group } from "../python/sandbox/cgroups/cgroups.ts";
import { catchProjectError, createWheel, writeFiles } from "../testing/project-fixtures.ts";
import { collectEnvironments } from "./collect-environments.ts";

let scene: EnvironmentScene;
beforeEach(async () => {
  scene = await openEnvironmentScene();
});
afterEach(() => scene.close());

function refuse(): never {
  throw new Error("ENOSPC: no space left on device");
}

/** A folder of wheels in place of an index, as an operator configures one. */
async function createIndex(wheel: Buffer): Promise<Readonly<Record<string, string | undefined>>> {
  const folder = await writeFiles(join(scene.path, "index"), { [WHEEL]: wheel });
  return { ...process.env, PIP_NO_INDEX: "1", PIP_FIND_LINKS: folder, UV_FIND_LINKS: folder };
}

test("an environment belongs to one owner, unless each line is pinned with a hash: then all get the same bytes", async () => {
  const wheel = createWheel("tiny", { "tiny.py": "ANSWER = 42\n" });
  const hash = createHash("sha256").update(wheel).digest("hex");
  scene.builder = scene.create({ variables: await createIndex(wheel) });
  const named = await scene.createProject("named", { "requirements.txt": "tiny==1.0\n" });
  const local = await scene.createTinyProject("local");
  const pinned = await scene.createProject("pinned", {
    "requirements.txt": `tiny==1.0 --hash=sha256:${hash}\n`,
  });
  for (const project of [named, local]) {
    const [own, others] = [await scene.ensure(project), await scene.ensure(project, { owner: "another" })];
    expect(others.interpreter).not.toBe(own.interpreter);
    expect(others.key).not.toBe(own.key);
  }
  const shared = await scene.ensure(pinned);
  expect(await scene.ensure(pinned, { owner: "another" })).toEqual(shared);
  expect(runIn(shared, "import tiny; print(tiny.ANSWER)")).toBe("42");
});

test("a package whose hash is not the one that its line pins is not installed", async () => {
  scene.builder = scene.create({ variables: await createIndex(createWheel("tiny", {})) });
  const wrong = await scene.createProject("wrong", {
    "requirements.txt": `tiny==1.0 --hash=sha256:${"0".repeat(64)}\n`,
  });
  expect((await catchProjectError(scene.ensure(wrong))).code).toBe("BUILD_FAILED");
});

test.runIf(!isRoot)(
  "what a build leaves in the cache of downloads is seen by builds of its owner only",
  async () => {
    const caches = join(scene.path, "cache", "cache");
    const project = await scene.createTinyProject("project");
    await scene.ensure(project);
    const [own] = await readdir(caches);
    await scene.ensure(project, { owner: "another" });
    expect((await readdir(caches)).filter((name) => name !== own)).toHaveLength(1);
  },
);

test("a project's own files neither take the installer's place nor configure it", async () => {
  const lines: string[] = [];
  const options = { onLog: (line: string) => lines.push(line) };
  const traps = {
    "pip/__init__.py": "",
    "pip/__main__.py": "print('TRAP')\n",
    "pip.conf": "[global]\nrequire-hashes = true\n",
    "uv.toml": "no-such-setting = true\n",
    "setup.cfg": "[global]\nrequire-hashes = true\n",
  };
  const project = await scene.createProject("project", {
    ...traps,
    "requirements.txt": `./wheels/${WHEEL}\n`,
    [`wheels/${WHEEL}`]: createWheel("tiny", { "tiny.py": "ANSWER = 42\n" }),
  });
  expect(runIn(await scene.ensure(project, options), "import tiny; print(tiny.ANSWER)")).toBe("42");
  expect(lines.join("\n")).not.toContain("TRAP");
});

const ENDLESS = "import time\nprint('begun', flush=True)\ntime.sleep(3472)\n";

test("a build that takes too long, or that nobody waits for any more, is killed with all its processes", async () => {
  const project = await scene.createProject("project", {
    "requirements.txt": "./package\n",
    "package/setup.py": ENDLESS,
  });
  const impatient = scene.create({ timeout: 4 * SECOND });
  expect(
    (await catchProjectError(impatient.ensure(project, { owner: OWNER, sourceBuilds: true }))).code,
  ).toBe("BUILD_TIMEOUT");
  const [first, second] = [new AbortController(), new AbortController()];
  const joined = new Set<AbortSignal>();
  const waiting = [first, second].map(({ signal }) =>
    catchProjectError(
      scene.ensure(project, { signal, sourceBuilds: true, onLog: () => void joined.add(signal) }),
    ),
  );
  // The folder is there when the first has begun it; the second may come later.
  await expect.poll(() => joined.size).toBe(2);
  expect(await scene.listBuilds()).toHaveLength(1);
  first.abort();
  expect((await waiting[0])?.code).toBe("BUILD_CANCELLED");
  expect(await scene.listBuilds()).toHaveLength(1);
  second.abort();
  expect((await waiting[1])?.code).toBe("BUILD_CANCELLED");
  expect(await scene.listBuilds()).toEqual([]);
  const closing = catchProjectError(scene.ensure(project, { sourceBuilds: true }));
  await expect.poll(scene.listBuilds).toHaveLength(1);
  await scene.builder.close();
  expect((await closing).code).toBe("BUILD_CANCELLED");
  expect(await readdir(join(scene.path, "cache", "environments"))).toEqual([]);
});

test("what a dead process left half-built is swept when it is old, and an environment that somebody removed is built again", async () => {
  const environments = join(scene.path, "cache", "environments");
  const [old, fresh] = ["a".repeat(64) + "-00", "b".repeat(64) + "-00"].map((name) =>
    join(environments, name),
  );
  if (old === undefined || fresh === undefined) throw new Error("unreachable");
  await mkdir(old, { recursive: true });
  await mkdir(fresh);
  await utimes(old, 1, 1);
  const project = await scene.createTinyProject("project");
  const first = await scene.ensure(project);
  expect(existsSync(old)).toBe(false);
  expect(existsSync(fresh)).toBe(true);
  await rm(join(first.interpreter, "../.."), { recursive: true });
  expect(runIn(await scene.ensure(project), "import tiny; print(tiny.ANSWER)")).toBe("42");
});

test("an environment that is asked for counts as used from then on", async () => {
  const project = await scene.createTinyProject("project");
  const { folder } = await scene.ensure(project);
  if (folder === null) throw new Error("nothing was installed");
  await utimes(folder, 1, 1);
  await scene.ensure(project);
  const unusedSince = Date.now() - 60 * SECOND;
  await collectEnvironments(join(scene.path, "cache"), { unusedSince, abandonedSince: 0 });
  expect(existsSync(folder)).toBe(true);
});

test("requirements that take more than an environment may hold fail the build with the limit, and leave nothing", async () => {
  const project = await scene.createTinyProject("project");
  const strict = scene.create({ sizeLimits: { bytes: 2048, entries: 100_000 } });
  const error = await catchProjectError(strict.ensure(project, { owner: OWNER }));
  expect([error.code, error.detail]).toEqual([
    "BUILD_FAILED",
    "The installed requirements take more than 2048 bytes or 100000 files, the limit for one environment.",
  ]);
  expect(await readdir(join(scene.path, "cache", "environments"))).toEqual([]);
  await strict.close();
});

/** The build's own backend, so that nothing is fetched; folders deeper than any path can name stand in the work folder and in the environment. */
const DEEP_BACKEND = `
import os, sys
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    for place in (".", os.path.join(sys.prefix, "lib")):
        os.chdir(place)
        for _ in range(30):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
    raise SystemExit(1)
`;

test("the environments of one owner have a bound in all; those of others and those that all share do not count", async () => {
  const small = await scene.createTinyProject("first");
  await scene.ensure(small);
  const strict = scene.create({ ownerBytes: 1024 ** 2 });
  const error = await catchProjectError(
    strict.ensure(await scene.createTinyProject("second", 43), { owner: OWNER }),
  );
  expect([error.code, error.detail]).toEqual(["BUILD_FAILED", expect.stringContaining("more than 1 MB")]);
  // What is there already is used.
  expect((await strict.ensure(small, { owner: OWNER })).key).toMatch(/^v/);
  const roomy = scene.create({ ownerBytes: 200 * 1024 ** 2 });
  await roomy.ensure(await scene.createTinyProject("third", 44), { owner: "another" });
  await Promise.all([strict.close(), roomy.close()]);
  expect(await scene.listBuilds()).toHaveLength(2);
});

test.runIf(isRoot)(
  "a build whose control group is refused gives its user back, and leaves no group",
  async () => {
    const { cgroups } = await findTestSandbox();
    if (cgroups === null) return;
    const removed: string[] = [];
    const create = (name: string): Group => {
      const group = cgroups.create(name);
      const remove = async (): Promise<boolean> => {
        removed.push(name);
        return group.remove();
      };
      return { ...group, remove, ...(removed.length === 0 ? { limit: refuse } : {}) };
    };
    const builder = scene.create({
      buildUids: { ...BUILD_UIDS, count: 1 },
      cgroups: { ...cgroups, create },
    });
    const project = await scene.createTinyProject("tiny");
    await expect(builder.ensure(project, { owner: OWNER })).rejects.toThrow(/ENOSPC/u);
    expect(removed).toHaveLength(1);
    expect((await builder.ensure(project, { owner: OWNER })).key).toMatch(/^v/u);
    await builder.close();
    await cgroups.close();
  },
);

test("a build is stopped while the disk has not enough free space, and leaves nothing", async () => {
  const strict = scene.create({ minFreeBytes: 2 ** 60 });
  const error = await catchProjectError(
    strict.ensure(await scene.createTinyProject("tiny"), { owner: OWNER }),
  );
  expect([error.code, error.detail]).toEqual([
    "BUILD_FAILED",
    expect.stringContaining("not enough free space"),
  ]);
  expect(await readdir(join(scene.path, "cache", "environments"))).toEqual([]);
  await strict.close();
});

test(
  "folders that lie too deep to be named fail the build of their package, and are removed like any other",
  { tags: "full" },
  async () => {
    const project = await scene.createProject("project", {
      "requirements.txt": "./package\n",
      "package/pyproject.toml":
        '[project]\nname = "deep"\nversion = "1"\n[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
      "package/backend.py": DEEP_BACKEND,
    });
    expect((await catchProjectError(scene.ensure(project, { sourceBuilds: true }))).code).toBe(
      "BUILD_FAILED",
    );
    expect(await readdir(join(scene.path, "cache", "environments"))).toEqual([]);
  },
);
