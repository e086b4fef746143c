import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { getMessage } from "../base/thrown.ts";
import { TrustedExecutable } from "../host/trusted-executable.ts";
import { openEnvironmentScene, OWNER, runIn } from "../testing/environment-scene.ts";
import type { EnvironmentScene } from "../testing/environment-scene.ts";
import { findProcesses } from "../testing/find-processes.ts";
import { INTERPRETER, waitFor } from "../testing/python-fixture.ts";
import { RUNNER_DIRECTORY } from "../python/sandbox/runner-files.ts";
import { recordSyncs } from "../testing/record-syncs.ts";
import type { Environment } from "./environment-folders.ts";
import type { Interpreter } from "./interpreter.ts";
import { createPreparedPackages } from "./prepared-packages.ts";

let scene: EnvironmentScene;
/** Folder of what is prepared. */
let prepared: string;
/** File with a line for each run of an interpreter. */
let runs: string;
beforeEach(async () => {
  scene = await openEnvironmentScene();
  prepared = join(scene.path, "cache", "prepared");
  runs = join(scene.path, "runs");
});
afterEach(() => scene.close());

const forever = (): AbortSignal => new AbortController().signal;

/** A program in the place of an interpreter, which notes each run and writes `half` into the folder that it shall make an environment in. */
async function createInterpreter(then: string, version = "3.99.0"): Promise<Interpreter> {
  const path = join(scene.path, `python-${version}`);
  const script = `#!/bin/sh\necho run >> ${runs}\nmkdir -p "$4/lib"\necho half > "$4/lib/half"\n${then}\n`;
  await writeFile(path, script);
  await chmod(path, 0o755);
  const executable = TrustedExecutable.vouchFor(path, "named by the operator");
  return { executable, version, basePrefix: scene.path, readablePaths: [] };
}

const WHOLE = 'echo whole > "$4/lib/whole"';

function prepare(interpreter: Interpreter, signal = forever()): Promise<string> {
  return createPreparedPackages(join(scene.path, "cache"), interpreter).provide(signal);
}

function isFinished(name: string): boolean {
  return !name.includes(".");
}

async function countRuns(): Promise<number> {
  return (await readFile(runs, "utf8")).trim().split("\n").length;
}

test("an interpreter prepares once, however many ask; another version of it has its own", async () => {
  const packages = createPreparedPackages(join(scene.path, "cache"), await createInterpreter(WHOLE));
  const paths = await Promise.all([packages.provide(forever()), packages.provide(forever())]);
  expect(paths[1]).toBe(paths[0]);
  expect(await packages.provide(forever())).toBe(paths[0]);
  expect(await countRuns()).toBe(1);
  expect(existsSync(join(paths[0], "lib", "whole"))).toBe(true);
  const other = await prepare(await createInterpreter(WHOLE, "3.99.1"));
  expect(other).not.toBe(paths[0]);
  expect(await countRuns()).toBe(2);
});

test("two processes that prepare at once end with one and the same, and leave nothing else", async () => {
  const interpreter = await createInterpreter(`sleep 0.3\n${WHOLE}`);
  const paths = await Promise.all([prepare(interpreter), prepare(interpreter)]);
  expect(paths[1]).toBe(paths[0]);
  expect(await countRuns()).toBe(2);
  expect(await readdir(prepared)).toHaveLength(1);
  expect(existsSync(join(paths[0], "lib", "whole"))).toBe(true);
});

test("who asks when a month has ended while it is prepared gets what is there", async () => {
  const packages = createPreparedPackages(
    join(scene.path, "cache"),
    await createInterpreter(`sleep 1\n${WHOLE}`),
  );
  const before = packages.provide(forever());
  await waitFor("it runs", () => existsSync(runs));
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 40 * 24 * 3_600_000 });
  const paths = await Promise.all([before, packages.provide(forever())]).finally(() => vi.useRealTimers());
  expect(paths.map((path) => existsSync(join(path, "lib", "whole")))).toEqual([true, true]);
  expect(await countRuns()).toBe(1);
});

test("what was not finished is never taken, neither of a process that died nor of an interpreter that failed", async () => {
  const failing = await createInterpreter("echo no space left >&2\nexit 1");
  expect(await prepare(failing).catch(getMessage)).toBe("no space left");
  expect(await readdir(prepared)).toEqual([]);
  const path = await prepare(await createInterpreter(WHOLE));
  const [name = ""] = await readdir(prepared);
  await rename(join(prepared, name), join(prepared, `${name}.0123456789ab`));
  expect(await prepare(await createInterpreter(WHOLE))).toBe(path);
  expect(await countRuns()).toBe(3);
  expect(existsSync(join(path, "lib", "whole"))).toBe(true);
});

test("it counts only when all of it is on the disk, and no other user can write any of it", async () => {
  const thereThen = new Set<boolean>();
  const { paths, stop } = await recordSyncs(() => thereThen.add(readdirSync(prepared).some(isFinished)));
  const mask = 'chmod -R a+rwX "$4"';
  const path = await prepare(await createInterpreter(`${WHOLE}\n${mask}`)).finally(stop);
  expect([...thereThen]).toEqual([false]);
  expect(paths.map((synced) => basename(synced))).toEqual(expect.arrayContaining(["half", "whole", "lib"]));
  for (const name of ["..", ".", "lib", "lib/whole"]) {
    const { uid, mode } = await lstat(join(path, name));
    expect([uid, mode & 0o022]).toEqual([process.getuid?.(), 0]);
  }
});

test("who gives up leaves it to the others; the last one ends all that it has started, and nothing is left", async () => {
  const slow = await createInterpreter(`sh -c 'sleep 300; true' "$4" &\nwait`);
  const packages = createPreparedPackages(join(scene.path, "cache"), slow);
  const callers = [new AbortController(), new AbortController()];
  const ends = callers.map(({ signal }) => packages.provide(signal).catch(getMessage));
  await waitFor("it runs", () => existsSync(runs) && findProcesses(prepared).length > 1);
  callers[0]?.abort(new Error("first"));
  expect(await ends[0]).toBe("first");
  expect(await readdir(prepared)).toHaveLength(1);
  callers[1]?.abort(new Error("last"));
  expect(await ends[1]).toBe("last");
  await expect.poll(() => findProcesses(prepared)).toEqual([]);
  expect(await readdir(prepared)).toEqual([]);
  await createInterpreter(WHOLE);
  expect(existsSync(join(await packages.provide(forever()), "lib", "whole"))).toBe(true);
});

/** Whether a compiled module of pip is that of its source: PEP 552, by time and size. */
const VALID = `
import os, pip
stats = os.stat(pip.__file__)
data = open(pip.__cached__, "rb").read()
parts = [int.from_bytes(data[at:at + 4], "little") for at in (4, 8, 12)]
print(parts == [0, int(stats.st_mtime), stats.st_size])
`;

/** Where packages of an environment lie. */
function findPackages(environment: Environment): string {
  return runIn(environment, "import pip, os; print(os.path.dirname(os.path.dirname(pip.__file__)))");
}

test("environments begin with the compiled packages that were prepared, which they do not share", async () => {
  const lines: string[] = [];
  const onLog = (line: string): void => void lines.push(line);
  const first = await scene.ensure(await scene.createTinyProject("first"), { onLog });
  const [name = ""] = await readdir(prepared);
  const from = findPackages(first).replace(/^.*\/venv\//, join(prepared, name, "venv/"));
  await writeFile(join(from, "mark.py"), "");
  const second = await scene.ensure(await scene.createTinyProject("second", 43), { onLog });
  expect(runIn(second, "import tiny, mark; print(tiny.ANSWER)")).toBe("43");
  expect(runIn(second, VALID)).toBe("True");
  expect(lines.join("\n")).not.toContain("could not be prepared");
  // Neither the same file, nor one that the build's user left to itself.
  const [original, copy] = [from, findPackages(second)].map((folder) => join(folder, "pip/__init__.py"));
  const [kept, copied] = [await lstat(original ?? ""), await lstat(copy ?? "")];
  expect([copied.ino === kept.ino, copied.mtimeMs, copied.uid]).toEqual([
    false,
    kept.mtimeMs,
    process.getuid?.(),
  ]);
  expect(await readdir(prepared)).toEqual([name]);
});

test("where nothing can be prepared, a build installs pip itself, and says so", async () => {
  await mkdir(join(scene.path, "cache"));
  await writeFile(prepared, "");
  const lines: string[] = [];
  const options = { owner: OWNER, onLog: (line: string) => lines.push(line) };
  const environment = await scene.ensure(await scene.createTinyProject("project"), options);
  expect(runIn(environment, "import tiny, pip; print(tiny.ANSWER)")).toBe("42");
  expect(lines[0]).toMatch(/^pip could not be prepared for all builds: E[A-Z]+/);
});

test(
  "where what was prepared is gone before it is copied, pip is installed as without it",
  { tags: "full" },
  async () => {
    const environment = join(scene.path, "environment");
    const program = join(RUNNER_DIRECTORY, "installer", "create.py");
    const args = ["-I", program, environment, join(scene.path, "removed")];
    const { stdout } = await promisify(execFile)(INTERPRETER, args);
    expect(stdout).toBe("The prepared pip could not be copied: No such file or directory\n");
    await promisify(execFile)(join(environment, "bin/python"), ["-I", "-m", "pip", "--version"]);
  },
);
