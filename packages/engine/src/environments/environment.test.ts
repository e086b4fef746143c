import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { SECOND } from "../base/time.ts";
import { findExecutables } from "../host/find-executables.ts";
import { TrustedExecutable } from "../host/trusted-executable.ts";
import { collectEnvironments } from "./collect-environments.ts";
import { createEnvironmentBuilder } from "./environment.ts";
import type { EnsureOptions, Environment, EnvironmentBuilder } from "./environment.ts";
import type { EnvironmentBuilderOptions } from "./environment-settings.ts";
import { findInterpreter } from "./interpreter.ts";
import type { Interpreter } from "./interpreter.ts";
import { catchProjectError, createWheel, createWorkspace, writeFiles } from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";
import { recordSyncs } from "../testing/record-syncs.ts";

const BUILD_TIME = 120 * SECOND;
const STRANGER = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;

let workspace: Workspace;
let interpreter: Interpreter;
let bubblewrap: TrustedExecutable | null;
let builder: EnvironmentBuilder;

beforeAll(async () => {
  const searchPath = process.env["PATH"] ?? "";
  interpreter = await findInterpreter({ searchPath, ...(isRoot && { readableBy: STRANGER }) });
  bubblewrap = (await findExecutables("bwrap", searchPath))[0] ?? null;
});
beforeEach(async () => {
  workspace = await createWorkspace();
  await chmod(workspace.path, 0o755);
  builder = create();
});
afterEach(async () => {
  await builder.close();
  await workspace.close();
});

function create(options: Partial<EnvironmentBuilderOptions> = {}): EnvironmentBuilder {
  const directory = join(workspace.path, "cache");
  return createEnvironmentBuilder({
    directory,
    interpreter,
    bubblewrap,
    buildUser: STRANGER,
    variables: process.env,
    ...options,
  });
}

const WHEEL = "tiny-1.0-py3-none-any.whl";

async function createProject(
  name: string,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<string> {
  return writeFiles(join(workspace.path, name), files);
}

async function createTinyProject(name: string, answer = 42): Promise<string> {
  return createProject(name, {
    "requirements.txt": `./wheels/${WHEEL}\n`,
    [`wheels/${WHEEL}`]: createWheel("tiny", { "tiny.py": `ANSWER = ${answer}\n` }),
  });
}

const OWNER = "organisation";

function ensure(project: string, options: Partial<EnsureOptions> = {}): Promise<Environment> {
  return builder.ensure(project, { owner: OWNER, ...options });
}

/** What Python in an environment prints, run as a user that owns nothing. */
function runIn(environment: Environment, code: string): string {
  const user = isRoot ? STRANGER : {};
  return execFileSync(environment.interpreter, ["-c", code], {
    encoding: "utf8",
    cwd: "/",
    env: {},
    ...user,
  }).trim();
}

/** The folder of a build: a key, and a random part. */
const BUILD = /^v\d+-[0-9a-f]{64}-[0-9a-f]+$/;
const LINK = /^v\d+-[0-9a-f]{64}$/;

async function listBuilds(): Promise<readonly string[]> {
  const names = await readdir(join(workspace.path, "cache", "environments")).catch(() => []);
  return names.filter((name) => BUILD.test(name));
}

test("a project without requirements uses the base interpreter and builds nothing", async () => {
  for (const files of [
    {},
    { "requirements.txt": "# nothing\n\n" },
    { "pyproject.toml": "[tool.ruff]\nline-length = 100\n" },
  ]) {
    const environment = await ensure(await createProject(`p${Object.keys(files).join("")}`, files));
    expect(environment).toMatchObject({
      interpreter: interpreter.executable.path,
      readablePaths: interpreter.readablePaths,
      logFile: null,
    });
  }
  expect(existsSync(join(workspace.path, "cache"))).toBe(false);
});

test(
  "requirements are installed so that any user can import them, but not change them, and the log is kept",
  async () => {
    const lines: string[] = [];
    const environment = await ensure(await createTinyProject("project"), {
      onLog: (line) => lines.push(line),
    });
    expect(runIn(environment, "import tiny; print(tiny.ANSWER)")).toBe("42");
    expect(environment.readablePaths.some((path) => environment.interpreter.startsWith(`${path}/`))).toBe(
      true,
    );
    expect(lines.join("\n")).toContain("tiny");
    expect((await readFile(environment.logFile ?? "", "utf8")).trim().split("\n")).toEqual(lines);
    const module = runIn(environment, "import tiny; print(tiny.__file__)");
    expect((await stat(module)).mode & 0o777).toBe(0o644);
    expect((await stat(module)).uid).toBe(process.getuid?.());
    expect(runIn(environment, "import tiny, os; print(os.path.exists(tiny.__cached__))")).toBe("True");
    expect((await readdir(join(environment.interpreter, "../../.."))).sort()).toEqual(["venv"]);
  },
  BUILD_TIME,
);

test(
  "versions that need the same share one environment; another content, order of lines or interpreter does not",
  async () => {
    const first = await ensure(await createTinyProject("first"));
    const lines: string[] = [];
    const same = await ensure(await createTinyProject("same"), { onLog: (line) => lines.push(line) });
    expect(same).toEqual(first);
    expect(lines).toEqual([]);
    const other = await ensure(await createTinyProject("other", 43));
    expect(other.key).not.toBe(first.key);
    expect(runIn(other, "import tiny; print(tiny.ANSWER)")).toBe("43");
    const found = await create({ interpreter: { ...interpreter, version: "3.99.0" }, timeout: 1 })
      .ensure(join(workspace.path, "first"), { owner: OWNER })
      .catch((error: unknown) => error);
    expect(found).toMatchObject({ code: "BUILD_TIMEOUT" });
  },
  BUILD_TIME,
);

test(
  "callers that race in one process share one build and all hear its log; in two processes the second keeps the first's",
  async () => {
    const project = await createTinyProject("project");
    const environments = join(workspace.path, "cache", "environments");
    const heard: string[][] = [[], []];
    let most = 0;
    const shared = heard.map((lines) => {
      const onLog = (line: string): void => {
        lines.push(line);
        most = Math.max(most, readdirSync(environments).filter((name) => name.endsWith(".log")).length);
      };
      return ensure(project, { onLog });
    });
    const together = await Promise.all(shared);
    expect(together[1]).toEqual(together[0]);
    expect(most).toBe(1);
    expect(heard[0]?.length).toBeGreaterThan(0);
    expect(heard[1]).toEqual(heard[0]);

    const another = await createTinyProject("another", 43);
    const apart = await Promise.all([ensure(another), create().ensure(another, { owner: OWNER })]);
    expect(apart[1]).toEqual(apart[0]);
    expect(await listBuilds()).toHaveLength(2);
  },
  BUILD_TIME,
);

test(
  "a package is really installed from the index, named by pyproject.toml",
  async () => {
    const project = await createProject("project", {
      "pyproject.toml": '[project]\nname = "x"\ndependencies = ["six==1.16.0"]\n',
    });
    expect(runIn(await ensure(project), "import six; print(six.__version__)")).toBe("1.16.0");
  },
  BUILD_TIME,
);

test(
  "uv builds the same environment where it is found, and names a requirement that does not exist",
  async () => {
    // The platform's own way to get uv: a package of the index like any other.
    const tools = await ensure(await createProject("tools", { "requirements.txt": "uv==0.13.8\n" }));
    const uv = TrustedExecutable.vouchFor(join(tools.interpreter, "..", "uv"), "named by the operator");
    const directory = join(workspace.path, "by-uv");
    const lines: string[] = [];
    // pip uses the certificates that this machine names in its configuration; uv has to be told.
    const byUv = create({ directory, uv, variables: { UV_SYSTEM_CERTS: "1", ...process.env } });
    const options = { onLog: (line: string) => lines.push(line) };
    const tiny = await createTinyProject("tiny");
    // What uv would obey if it looked for its configuration in the project.
    await writeFiles(tiny, { "uv.toml": "no-such-setting = true\n" });
    const environment = await byUv.ensure(tiny, { ...options, owner: OWNER });
    expect(lines[0]).toMatch(/with uv$/);
    expect(runIn(environment, "import tiny, os; print(tiny.ANSWER, os.path.exists(tiny.__cached__))")).toBe(
      "42 True",
    );
    const project = await createProject("unknown", {
      "requirements.txt": "no-such-package-of-anybody==99.1\n",
    });
    expect((await catchProjectError(byUv.ensure(project, { owner: OWNER }))).detail).toContain(
      "no-such-package-of-anybody==99.1",
    );
  },
  BUILD_TIME,
);

test(
  "a requirement that does not exist is named, nothing is left, and a later attempt succeeds",
  async () => {
    const project = await createProject("project", {
      "requirements.txt": "./wheels/absent-1.0-py3-none-any.whl\n",
    });
    const error = await catchProjectError(ensure(project));
    expect(error).toMatchObject({ code: "INVALID_PROJECT", detail: expect.stringContaining("absent-1.0") });
    await writeFile(join(project, "requirements.txt"), "no-such-package-of-anybody==99.1\n");
    const unknown = await catchProjectError(ensure(project));
    expect(unknown).toMatchObject({
      code: "BUILD_FAILED",
      detail: expect.stringContaining("no-such-package-of-anybody==99.1"),
    });
    expect(await readdir(join(workspace.path, "cache", "environments"))).toEqual([]);
    expect(runIn(await ensure(await createTinyProject("later")), "import tiny")).toBe("");
  },
  BUILD_TIME,
);

/** A folder of wheels in place of an index, as an operator configures one. */
async function createIndex(wheel: Buffer): Promise<Readonly<Record<string, string | undefined>>> {
  const folder = await writeFiles(join(workspace.path, "index"), { [WHEEL]: wheel });
  return { ...process.env, PIP_NO_INDEX: "1", PIP_FIND_LINKS: folder, UV_FIND_LINKS: folder };
}

test(
  "an environment belongs to one owner, unless each line is pinned with a hash: then all get the same bytes",
  async () => {
    const wheel = createWheel("tiny", { "tiny.py": "ANSWER = 42\n" });
    const hash = createHash("sha256").update(wheel).digest("hex");
    builder = create({ variables: await createIndex(wheel) });
    const named = await createProject("named", { "requirements.txt": "tiny==1.0\n" });
    const local = await createTinyProject("local");
    const pinned = await createProject("pinned", {
      "requirements.txt": `tiny==1.0 --hash=sha256:${hash}\n`,
    });
    for (const project of [named, local]) {
      const [own, others] = [await ensure(project), await ensure(project, { owner: "another" })];
      expect(others.interpreter).not.toBe(own.interpreter);
      expect(others.key).not.toBe(own.key);
    }
    const shared = await ensure(pinned);
    expect(await ensure(pinned, { owner: "another" })).toEqual(shared);
    expect(runIn(shared, "import tiny; print(tiny.ANSWER)")).toBe("42");
  },
  BUILD_TIME,
);

test(
  "a package whose hash is not the one that its line pins is not installed",
  async () => {
    builder = create({ variables: await createIndex(createWheel("tiny", {})) });
    const wrong = await createProject("wrong", {
      "requirements.txt": `tiny==1.0 --hash=sha256:${"0".repeat(64)}\n`,
    });
    expect((await catchProjectError(ensure(wrong))).code).toBe("BUILD_FAILED");
  },
  BUILD_TIME,
);

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

test(
  "what is built from a source belongs to one owner, even pinned with a hash: nobody pinned what builds it",
  async () => {
    const index = await writeFiles(join(workspace.path, "index"), {
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
    builder = create({ variables: { ...process.env, PIP_NO_INDEX: "1", PIP_FIND_LINKS: index } });
    const pinned = await createProject("pinned", {
      "requirements.txt": `tiny==1.0 --hash=sha256:${hash}\n`,
    });
    const [own, others] = [await ensure(pinned), await ensure(pinned, { owner: "another" })];
    expect(runIn(own, "import tiny; print(tiny.ANSWER)")).toBe("42");
    expect(others.interpreter).not.toBe(own.interpreter);
    const lines: string[] = [];
    expect(await ensure(pinned, { onLog: (line) => lines.push(line) })).toEqual(own);
    expect(lines).toEqual([]);
  },
  BUILD_TIME,
);

test.runIf(!isRoot)(
  "what a build leaves in the cache of downloads is seen by builds of its owner only",
  async () => {
    const caches = join(workspace.path, "cache", "cache");
    const project = await createTinyProject("project");
    await ensure(project);
    const [own] = await readdir(caches);
    await ensure(project, { owner: "another" });
    expect((await readdir(caches)).filter((name) => name !== own)).toHaveLength(1);
  },
  BUILD_TIME,
);

test(
  "a project's own files neither take the installer's place nor configure it",
  async () => {
    const lines: string[] = [];
    const options = { onLog: (line: string) => lines.push(line) };
    const traps = {
      "pip/__init__.py": "",
      "pip/__main__.py": "print('TRAP')\n",
      "pip.conf": "[global]\nrequire-hashes = true\n",
      "uv.toml": "no-such-setting = true\n",
      "setup.cfg": "[global]\nrequire-hashes = true\n",
    };
    const project = await createProject("project", {
      ...traps,
      "requirements.txt": `./wheels/${WHEEL}\n`,
      [`wheels/${WHEEL}`]: createWheel("tiny", { "tiny.py": "ANSWER = 42\n" }),
    });
    expect(runIn(await ensure(project, options), "import tiny; print(tiny.ANSWER)")).toBe("42");
    expect(lines.join("\n")).not.toContain("TRAP");
  },
  BUILD_TIME,
);

test(
  "an environment counts only when all of it is on the disk: after a power cut there is no half of one",
  async () => {
    const environments = join(workspace.path, "cache", "environments");
    const linksThen = new Set<number>();
    const { paths, stop } = await recordSyncs(() => {
      linksThen.add(readdirSync(environments).filter((name) => LINK.test(name)).length);
    });
    const environment = await ensure(await createTinyProject("project")).finally(stop);
    const folder = join(environment.interpreter, "../..");
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() || entry.isDirectory());
    expect(
      files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => !paths.includes(path)),
    ).toEqual([]);
    expect([...linksThen]).toEqual([0]);
  },
  BUILD_TIME,
);

const SPY = `
import os, pathlib, subprocess, sys, time
def attempt(action):
    try: return action()
    except OSError as error: return type(error).__name__
print("UID", os.getuid())
print("SECRET", os.environ.get("PLATFORM_SECRET"))
print("PROJECTS", attempt(lambda: os.listdir("@DATA@")))
print("WRITE", attempt(lambda: pathlib.Path("@DATA@/evil").write_text("x")))
subprocess.Popen(["sleep", "3471"], start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
sys.stdout.flush()
raise SystemExit("stop here: " + str(os.getuid()))
`;

test.runIf(isRoot)(
  "code that runs while a package is built is another user, sees no secrets or data, and leaves no process behind",
  async () => {
    const secret = join(workspace.path, "data");
    await writeFiles(secret, { "other-project/code.py": "x" });
    await builder.close();
    builder = create({ hidden: [secret], variables: { ...process.env, PLATFORM_SECRET: "x" } });
    const lines: string[] = [];
    const project = await createProject("project", {
      "requirements.txt": "./package\n",
      "package/setup.py": SPY.replaceAll("@DATA@", secret),
    });
    await catchProjectError(ensure(project, { onLog: (line) => lines.push(line.trim()) }));
    expect(lines).toContain("UID 65534");
    expect(lines).toContain("SECRET None");
    expect(existsSync(join(secret, "evil"))).toBe(false);
    if (bubblewrap === null) return;
    expect(lines).toContain("PROJECTS []");
    const processes = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
    expect(processes.split("\n")).not.toContain("sleep 3471");
  },
  BUILD_TIME,
);

const ENDLESS = "import time\nprint('begun', flush=True)\ntime.sleep(3472)\n";

test(
  "a build that takes too long, or that nobody waits for any more, is killed with all its processes",
  async () => {
    const project = await createProject("project", {
      "requirements.txt": "./package\n",
      "package/setup.py": ENDLESS,
    });
    const impatient = create({ timeout: 4 * SECOND });
    expect((await catchProjectError(impatient.ensure(project, { owner: OWNER }))).code).toBe("BUILD_TIMEOUT");
    const [first, second] = [new AbortController(), new AbortController()];
    const waiting = [first, second].map(({ signal }) => catchProjectError(ensure(project, { signal })));
    await expect.poll(listBuilds).toHaveLength(1);
    first.abort();
    expect((await waiting[0])?.code).toBe("BUILD_CANCELLED");
    expect(await listBuilds()).toHaveLength(1);
    second.abort();
    expect((await waiting[1])?.code).toBe("BUILD_CANCELLED");
    expect(await listBuilds()).toEqual([]);
    const closing = catchProjectError(ensure(project));
    await expect.poll(listBuilds).toHaveLength(1);
    await builder.close();
    expect((await closing).code).toBe("BUILD_CANCELLED");
    expect(await readdir(join(workspace.path, "cache", "environments"))).toEqual([]);
  },
  BUILD_TIME,
);

test(
  "what a dead process left half-built is swept when it is old, and an environment that somebody removed is built again",
  async () => {
    const environments = join(workspace.path, "cache", "environments");
    const [old, fresh] = ["a".repeat(64) + "-00", "b".repeat(64) + "-00"].map((name) =>
      join(environments, name),
    );
    if (old === undefined || fresh === undefined) throw new Error("unreachable");
    await mkdir(old, { recursive: true });
    await mkdir(fresh);
    await utimes(old, 1, 1);
    const project = await createTinyProject("project");
    const first = await ensure(project);
    expect(existsSync(old)).toBe(false);
    expect(existsSync(fresh)).toBe(true);
    await rm(join(first.interpreter, "../.."), { recursive: true });
    expect(runIn(await ensure(project), "import tiny; print(tiny.ANSWER)")).toBe("42");
  },
  BUILD_TIME,
);

test(
  "an environment that is asked for counts as used from then on",
  async () => {
    const project = await createTinyProject("project");
    const { logFile } = await ensure(project);
    const folder = (logFile ?? "").replace(/\.log$/, "");
    await utimes(folder, 1, 1);
    await ensure(project);
    const unusedSince = Date.now() - 60 * SECOND;
    await collectEnvironments(join(workspace.path, "cache"), { unusedSince, abandonedSince: 0 });
    expect(existsSync(folder)).toBe(true);
  },
  BUILD_TIME,
);

test(
  "requirements that take more than an environment may hold fail the build with the limit, and leave nothing",
  async () => {
    const project = await createTinyProject("project");
    const strict = create({ sizeLimits: { bytes: 2048, entries: 100_000 } });
    const error = await catchProjectError(strict.ensure(project, { owner: OWNER }));
    expect([error.code, error.detail]).toEqual([
      "BUILD_FAILED",
      "The installed requirements take more than 2048 bytes or 100000 files, the limit for one environment",
    ]);
    expect(await readdir(join(workspace.path, "cache", "environments"))).toEqual([]);
    await strict.close();
  },
  BUILD_TIME,
);

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

test(
  "folders that lie too deep to be named fail the build of their package, and are removed like any other",
  async () => {
    const project = await createProject("project", {
      "requirements.txt": "./package\n",
      "package/pyproject.toml":
        '[project]\nname = "deep"\nversion = "1"\n[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
      "package/backend.py": DEEP_BACKEND,
    });
    expect((await catchProjectError(ensure(project))).code).toBe("BUILD_FAILED");
    expect(await readdir(join(workspace.path, "cache", "environments"))).toEqual([]);
  },
  BUILD_TIME,
);
