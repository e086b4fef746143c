import { execFileSync } from "node:child_process";
import { chmod, mkdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listProjectFiles } from "./list-files.ts";
import { packProject } from "./pack.ts";
import {
  catchProjectError,
  createWorkspace,
  MINIMAL_PROJECT,
  writeFiles,
} from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";
import { unpackProject } from "./unpack.ts";

let workspace: Workspace;
beforeEach(async () => {
  workspace = await createWorkspace();
});
afterEach(() => workspace.close());

const REAL_FILES = Object.keys(MINIMAL_PROJECT);

async function createProject(
  name: string,
  files: Readonly<Record<string, string | Buffer>> = {},
): Promise<string> {
  return writeFiles(join(workspace.path, name), { ...MINIMAL_PROJECT, ...files });
}

test("git, environments, secrets, caches and the archive itself are never packed, whatever .platformignore says", async () => {
  const project = await createProject("project", {
    ".platformignore": "!.env\n!.git\n!__pycache__\n!venv\n!*.pyc\n",
    ".git/config": "x",
    "sub/.git": "gitdir: elsewhere",
    ".env": "SECRET=1",
    ".env.production": "SECRET=1",
    ".venv/lib/x.py": "x",
    "venv/lib/x.py": "x",
    "my-own-name/pyvenv.cfg": "home = /usr/bin",
    "my-own-name/lib/x.py": "x",
    "src/__pycache__/program.cpython-311.pyc": "x",
    "src/stray.pyc": "x",
    ".pytest_cache/x": "x",
    ".mypy_cache/x": "x",
    ".ruff_cache/x": "x",
    "node_modules/x/index.js": "x",
    "demo.zip": "an archive made before",
  });
  expect(await listPacked(project)).toEqual([".platformignore", ...REAL_FILES].sort());
});

test.each([
  "*\n!*\n!.env\n!.env.*\n",
  "\uFEFF!.env\r\n!/.env\r\n!**/.env\r\n!sub/\r\n!sub/.env\r\n",
  "!.[eE][nN][vV]\n!\\.env\n!.env \n!.env*\n",
  "!\n!!.env\n#.env\n!./.env\n!../project/.env\n",
])("files with variables are never packed, also with the .platformignore %j", async (rules) => {
  const names = [".env", ".env.local", ".ENV", ".Env.test", ".envrc", "sub/.env", "src/.env/inside"];
  const files = Object.fromEntries(names.map((name) => [name, "SECRET=1"]));
  const project = await createProject("project", { ".platformignore": rules, ...files });
  for (const path of await listProjectFiles(project)) expect(path.toLowerCase()).not.toContain(".env");
});

async function listPacked(project: string): Promise<readonly string[]> {
  const seen: string[] = [];
  await packProject(project, { onProgress: ({ file }) => seen.push(file) });
  return seen.sort();
}

test(".platformignore follows gitignore: folders, negation, anchors, double stars", async () => {
  const project = await createProject("project", {
    ".platformignore": "data/*\n!data/keep.csv\n/only-root.txt\n**/deep/*.log\nBuild/\n",
    "data/drop.csv": "1",
    "data/keep.csv": "1",
    "only-root.txt": "1",
    "sub/only-root.txt": "1",
    "a/b/deep/x.log": "1",
    "Build/x": "1",
    build: "a file, and in lower case",
  });
  const expected = [".platformignore", "build", "data/keep.csv", "sub/only-root.txt", ...REAL_FILES];
  expect(await listPacked(project)).toEqual(expected.sort());
});

test(".platformignore agrees with git itself on random patterns and files", async () => {
  const part = fc.constantFrom("a", "b", "c.txt", "d.log", "B");
  const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => [...parts, "f.txt"].join("/"));
  const pattern = fc.constantFrom(
    "a",
    "/a",
    "a/",
    "*.txt",
    "!f.txt",
    "b/**",
    "**/c.txt/",
    "a/b",
    "!a/b/",
    "d.*",
    "[ab]",
    "?.txt",
    "# c",
  );
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(path, { minLength: 1, maxLength: 8, selector: (p) => p.toLowerCase() }),
      fc.array(pattern, { maxLength: 5 }),
      async (paths, patterns) => {
        const root = join(workspace.path, `run-${(run += 1)}`);
        const text = `${patterns.join("\n")}\n`;
        const files = Object.fromEntries(
          paths
            .filter((p) => !paths.some((o) => o !== p && o.toLowerCase().startsWith(`${p.toLowerCase()}/`)))
            .map((p) => [p, "x"]),
        );
        await writeFiles(root, { ...files, ".platformignore": text, ".gitignore": text });
        execFileSync("git", ["-c", "init.defaultBranch=main", "init", "-q", root]);
        const listed = execFileSync(
          "git",
          ["-c", "core.ignorecase=false", "ls-files", "-z", "--others", "--exclude-standard"],
          { cwd: root },
        );
        const expected = listed
          .toString()
          .split("\0")
          .filter((name) => name !== "")
          .sort();
        // Names that differ only by case are refused by us: git has no such rule.
        const ours = await listProjectFiles(root).catch((error: unknown) =>
          String(error).includes("upper and lower case") ? expected : Promise.reject(error),
        );
        expect([...ours].sort()).toEqual(expected);
      },
    ),
    { numRuns: 25 },
  );
});

test("equal files give equal archives, whatever their order, times and modes and the time zone", async () => {
  const files = { "b.txt": "two", "a/z.txt": "three", "a.txt": "one", "ä.txt": "four" };
  const first = await createProject("first", files);
  const second = await createProject("second", Object.fromEntries(Object.entries(files).toReversed()));
  await chmod(join(second, "a.txt"), 0o755);
  await utimes(join(second, "b.txt"), 1, 1);
  const packed = await packProject(first);
  const before = process.env["TZ"];
  process.env["TZ"] = "Pacific/Kiritimati";
  try {
    const again = await packProject(second);
    expect(again.hash).toBe(packed.hash);
    expect(again.archive.equals(packed.archive)).toBe(true);
  } finally {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  }
});

test("files are packed in the order of their bytes, across folders", async () => {
  const project = await createProject("project", { "a/x": "1", "a-b": "1", Z: "1", é: "1" });
  const seen: string[] = [];
  await packProject(project, { onProgress: ({ file }) => seen.push(file) });
  expect(seen).toEqual(["Z", "a-b", "a/x", "platform.json", "src/__init__.py", "src/program.py", "é"]);
});

test("a changed byte, a renamed file and an added empty file each change the hash", async () => {
  const variants = [{}, { "x.txt": "1" }, { "x.txt": "2" }, { "y.txt": "1" }, { "x.txt": "1", empty: "" }];
  const hashes = new Set<string>();
  for (const [index, files] of variants.entries()) {
    hashes.add((await packProject(await createProject(`v${index}`, files))).hash);
  }
  expect(hashes.size).toBe(variants.length);
});

test("what is packed is unpacked byte for byte, with the same hash", async () => {
  const name = fc
    .stringMatching(/^[a-z0-9 ._äß-]{1,12}$/)
    .filter((text) => !/^\.{1,2}$|pyc$|^\.env|^venv$|^\.(git|hg|svn)$/.test(text));
  // Folders end with a hyphen and files with a plus, so that none is both.
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `files/${parts.join("-/")}+`);
  const content = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(new Uint8Array(200_000)));
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(path, content), { maxLength: 6, selector: ([p]) => p.normalize("NFC") }),
      async (list) => {
        run += 1;
        const files = Object.fromEntries(list.map(([p, bytes]) => [p, Buffer.from(bytes)]));
        const forward = await packProject(await createProject(`f${run}`, files));
        const backward = await packProject(
          await createProject(`b${run}`, Object.fromEntries(Object.entries(files).toReversed())),
        );
        expect(backward.archive.equals(forward.archive)).toBe(true);
        const archive = join(workspace.path, `${run}.zip`);
        const target = join(workspace.path, `t${run}`);
        await writeFile(archive, forward.archive);
        expect(await unpackProject(archive, target)).toEqual({
          hash: forward.hash,
          files: forward.files,
          bytes: forward.bytes,
        });
        for (const [p, bytes] of Object.entries(files))
          expect((await readFile(join(target, p))).equals(bytes)).toBe(true);
      },
    ),
    { numRuns: 25 },
  );
});

test("a symbolic link is refused by name, and may be ignored instead", async () => {
  const project = await createProject("project");
  await symlink("/etc/passwd", join(project, "innocent.txt"));
  const error = await catchProjectError(packProject(project));
  expect(error.code).toBe("INVALID_PROJECT");
  expect(error.detail).toContain("'innocent.txt' is a symbolic link");
  await writeFile(join(project, ".platformignore"), "innocent.txt\n");
  expect((await packProject(project)).files).toBe(REAL_FILES.length + 1);
});

test("a linked virtual environment is left out like any other", async () => {
  const project = await createProject("project");
  await mkdir(join(workspace.path, "elsewhere"));
  await symlink(join(workspace.path, "elsewhere"), join(project, ".venv"));
  expect((await packProject(project)).files).toBe(REAL_FILES.length);
});

test("a pipe in the project is refused and not waited for", async () => {
  const project = await createProject("project");
  execFileSync("mkfifo", [join(project, "pipe")]);
  expect((await catchProjectError(packProject(project))).detail).toContain("'pipe' is not a regular file");
});

test.each(["back\\slash.txt", "line\nbreak.txt"])(
  "a name that other systems cannot bear is refused: %j",
  async (name) => {
    const project = await createProject("project", { [name]: "x" });
    expect((await catchProjectError(packProject(project))).detail).toContain("rename it");
  },
);

test("two names that differ only by case are refused", async () => {
  const project = await createProject("project", { "Data/a.txt": "1", "data/b.txt": "2" });
  expect((await catchProjectError(packProject(project))).detail).toContain("only in upper and lower case");
});

test("a needed file that is ignored away is told before anything is sent", async () => {
  const project = await createProject("project", { ".platformignore": "src/\n" });
  expect((await catchProjectError(packProject(project))).detail).toContain(
    "'src/program.py' is needed but left out",
  );
});

test("a project over a limit is refused with the limit and the way out", async () => {
  const project = await createProject("project", { "big.bin": Buffer.alloc(200_000, "ab") });
  const small = { fileBytes: 100_000 };
  const refusals = [
    { files: 2 },
    small,
    { totalBytes: 100_000 },
    { archiveBytes: 300 },
    { ratioFreeBytes: 1000, ratio: 10 },
  ];
  for (const limits of refusals) {
    const error = await catchProjectError(packProject(project, { limits }));
    expect(error.code).toBe("PROJECT_TOO_LARGE");
    expect(error.detail).toContain(".platformignore");
  }
  expect((await catchProjectError(packProject(project, { limits: small }))).detail).toContain("'big.bin'");
});
