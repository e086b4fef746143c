import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TrustedExecutable } from "../host/trusted-executable.ts";
import { openEnvironmentScene, OWNER, runIn } from "../testing/environment-scene.ts";
import type { EnvironmentScene } from "../testing/environment-scene.ts";
import { catchProjectError, writeFiles } from "../testing/project-fixtures.ts";
import { recordSyncs } from "../testing/record-syncs.ts";

const LINK = /^v\d+-[0-9a-f]{64}$/;

let scene: EnvironmentScene;
beforeEach(async () => {
  scene = await openEnvironmentScene();
});
afterEach(() => scene.close());

test("a project without requirements uses the base interpreter and builds nothing", async () => {
  for (const files of [
    {},
    { "requirements.txt": "# nothing\n\n" },
    { "pyproject.toml": "[tool.ruff]\nline-length = 100\n" },
  ]) {
    const environment = await scene.ensure(
      await scene.createProject(`p${Object.keys(files).join("")}`, files),
    );
    expect(environment).toMatchObject({
      interpreter: scene.interpreter.executable.path,
      readablePaths: scene.interpreter.readablePaths,
      folder: null,
    });
  }
  expect(existsSync(join(scene.path, "cache"))).toBe(false);
});

test("requirements are installed so that any user can import them, but not change them, and the log is kept", async () => {
  const lines: string[] = [];
  const environment = await scene.ensure(await scene.createTinyProject("project"), {
    onLog: (line) => lines.push(line),
  });
  expect(runIn(environment, "import tiny; print(tiny.ANSWER)")).toBe("42");
  expect(environment.readablePaths.some((path) => environment.interpreter.startsWith(`${path}/`))).toBe(true);
  expect(lines.join("\n")).toContain("tiny");
  expect((await readFile(`${environment.folder}.log`, "utf8")).trim().split("\n")).toEqual(lines);
  const module = runIn(environment, "import tiny; print(tiny.__file__)");
  expect((await stat(module)).mode & 0o777).toBe(0o644);
  expect((await stat(module)).uid).toBe(process.getuid?.());
  expect(runIn(environment, "import tiny, os; print(os.path.exists(tiny.__cached__))")).toBe("True");
  expect((await readdir(join(environment.interpreter, "../../.."))).sort()).toEqual(["owner.json", "venv"]);
});

test("versions that need the same share one environment; another content, order of lines or interpreter does not", async () => {
  const first = await scene.ensure(await scene.createTinyProject("first"));
  const lines: string[] = [];
  const same = await scene.ensure(await scene.createTinyProject("same"), {
    onLog: (line) => lines.push(line),
  });
  expect(same).toEqual(first);
  expect(lines).toEqual([]);
  const other = await scene.ensure(await scene.createTinyProject("other", 43));
  expect(other.key).not.toBe(first.key);
  expect(runIn(other, "import tiny; print(tiny.ANSWER)")).toBe("43");
  const found = await scene
    .create({ interpreter: { ...scene.interpreter, version: "3.99.0" }, timeout: 1 })
    .ensure(join(scene.path, "first"), { owner: OWNER })
    .catch((error: unknown) => error);
  expect(found).toMatchObject({ code: "BUILD_TIMEOUT" });
});

test("callers that race in one process share one build and all hear its log; in two processes the second keeps the first's", async () => {
  const project = await scene.createTinyProject("project");
  const environments = join(scene.path, "cache", "environments");
  const heard: string[][] = [[], []];
  let most = 0;
  const shared = heard.map((lines) => {
    const onLog = (line: string): void => {
      lines.push(line);
      most = Math.max(most, readdirSync(environments).filter((name) => name.endsWith(".log")).length);
    };
    return scene.ensure(project, { onLog });
  });
  const together = await Promise.all(shared);
  expect(together[1]).toEqual(together[0]);
  expect(most).toBe(1);
  expect(heard[0]?.length).toBeGreaterThan(0);
  expect(heard[1]).toEqual(heard[0]);

  const another = await scene.createTinyProject("another", 43);
  const apart = await Promise.all([scene.ensure(another), scene.create().ensure(another, { owner: OWNER })]);
  expect(apart[1]).toEqual(apart[0]);
  expect(await scene.listBuilds()).toHaveLength(2);
});

test("a package is really installed from the index, named by pyproject.toml", async () => {
  const project = await scene.createProject("project", {
    "pyproject.toml": '[project]\nname = "x"\ndependencies = ["six==1.16.0"]\n',
  });
  expect(runIn(await scene.ensure(project), "import six; print(six.__version__)")).toBe("1.16.0");
});

test(
  "a package that has a setup.py and nothing else is built from its source, with setuptools and wheel of the index",
  { tags: "full" },
  async () => {
    const project = await scene.createProject("project", {
      "requirements.txt": "./package\n",
      "package/setup.py":
        'from setuptools import setup\nsetup(name="legacy", version="1.0", py_modules=["legacy"])\n',
      "package/legacy.py": "ANSWER = 42\n",
    });
    const environment = await scene.ensure(project, { sourceBuilds: true });
    expect(runIn(environment, "import legacy; print(legacy.ANSWER)")).toBe("42");
  },
);

test("uv builds the same environment where it is found, and names a requirement that does not exist", async () => {
  // The platform's own way to get uv: a package of the index like any other.
  const tools = await scene.ensure(
    await scene.createProject("tools", { "requirements.txt": "uv==0.13.8\n" }),
  );
  const uv = TrustedExecutable.vouchFor(join(tools.interpreter, "..", "uv"), "named by the operator");
  const directory = join(scene.path, "by-uv");
  const lines: string[] = [];
  // pip uses the certificates that this machine names in its configuration; uv has to be told.
  const byUv = scene.create({ directory, uv, variables: { UV_SYSTEM_CERTS: "1", ...process.env } });
  const options = { onLog: (line: string) => lines.push(line) };
  const tiny = await scene.createTinyProject("tiny");
  // What uv would obey if it looked for its configuration in the project.
  await writeFiles(tiny, { "uv.toml": "no-such-setting = true\n" });
  const environment = await byUv.ensure(tiny, { ...options, owner: OWNER });
  expect(lines[0]).toMatch(/with uv$/);
  expect(runIn(environment, "import tiny, os; print(tiny.ANSWER, os.path.exists(tiny.__cached__))")).toBe(
    "42 True",
  );
  const project = await scene.createProject("unknown", {
    "requirements.txt": "no-such-package-of-anybody==99.1\n",
  });
  expect((await catchProjectError(byUv.ensure(project, { owner: OWNER }))).detail).toContain(
    "no-such-package-of-anybody==99.1",
  );
});

test("a requirement that does not exist is named, nothing is left, and a later attempt succeeds", async () => {
  const project = await scene.createProject("project", {
    "requirements.txt": "./wheels/absent-1.0-py3-none-any.whl\n",
  });
  const error = await catchProjectError(scene.ensure(project));
  expect(error).toMatchObject({ code: "INVALID_PROJECT", detail: expect.stringContaining("absent-1.0") });
  await writeFile(join(project, "requirements.txt"), "no-such-package-of-anybody==99.1\n");
  const unknown = await catchProjectError(scene.ensure(project));
  expect(unknown).toMatchObject({
    code: "BUILD_FAILED",
    detail: expect.stringContaining("no-such-package-of-anybody==99.1"),
  });
  expect(await readdir(join(scene.path, "cache", "environments"))).toEqual([]);
  expect(runIn(await scene.ensure(await scene.createTinyProject("later")), "import tiny")).toBe("");
});

/** Builds a wheel out of nothing, so that no other package is needed; what it becomes is up to whoever builds it. */
const SOURCE_BACKEND = `
import os, zipfile
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        wheel.writestr("tiny.py", "ANSWER = 42\\n")
        wheel.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n")
        wheel.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("tiny-1.0.dist-info/RECORD", "")
    return name
`;

test("what is built from a source belongs to one owner, even pinned with a hash: nobody pinned what builds it", async () => {
  const index = await writeFiles(join(scene.path, "index"), {
    "tiny-1.0/PKG-INFO": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
    "tiny-1.0/pyproject.toml":
      '[project]\nname = "tiny"\nversion = "1.0"\n[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    "tiny-1.0/backend.py": SOURCE_BACKEND,
  });
  const archive = join(index, "tiny-1.0.tar.gz");
  execFileSync("tar", ["-czf", archive, "-C", index, "tiny-1.0"]);
  const hash = createHash("sha256")
    .update(await readFile(archive))
    .digest("hex");
  scene.builder = scene.create({ variables: { ...process.env, PIP_NO_INDEX: "1", PIP_FIND_LINKS: index } });
  const pinned = await scene.createProject("pinned", {
    "requirements.txt": `tiny==1.0 --hash=sha256:${hash}\n`,
  });
  const [own, others] = [
    await scene.ensure(pinned, { sourceBuilds: true }),
    await scene.ensure(pinned, { sourceBuilds: true, owner: "another" }),
  ];
  expect(runIn(own, "import tiny; print(tiny.ANSWER)")).toBe("42");
  expect(others.interpreter).not.toBe(own.interpreter);
  const lines: string[] = [];
  expect(await scene.ensure(pinned, { sourceBuilds: true, onLog: (line) => lines.push(line) })).toEqual(own);
  expect(lines).toEqual([]);
});

test("an environment counts only when all of it is on the disk: after a power cut there is no half of one", async () => {
  const environments = join(scene.path, "cache", "environments");
  const linksThen = new Set<number>();
  const { paths, stop } = await recordSyncs(() => {
    linksThen.add(readdirSync(environments).filter((name) => LINK.test(name)).length);
  });
  const environment = await scene.ensure(await scene.createTinyProject("project")).finally(stop);
  const folder = join(environment.interpreter, "../..");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() || entry.isDirectory());
  expect(
    files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => !paths.includes(path)),
  ).toEqual([]);
  expect([...linksThen]).toEqual([0]);
});
