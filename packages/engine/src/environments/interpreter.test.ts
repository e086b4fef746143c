import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findAccessFault } from "./access.ts";
import { findInterpreter } from "./interpreter.ts";
import { catchProjectError, createWorkspace } from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";

const id = process.getuid?.() === 65534 ? 65533 : 65534;
const STRANGER = { uid: id, gid: id };
const searchPath = process.env["PATH"] ?? "";
let workspace: Workspace;
beforeEach(async () => {
  workspace = await createWorkspace();
  await chmod(workspace.path, 0o755);
});
afterEach(() => workspace.close());

async function writeScript(path: string, text: string): Promise<string> {
  await writeFile(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return path;
}

test("the real installation behind a shim and a virtual environment is found", async () => {
  const real = await findInterpreter({ searchPath });
  const folder = join(workspace.path, "venv");
  execFileSync(real.executable.path, ["-m", "venv", "--without-pip", folder]);
  const shim = await writeScript(
    join(workspace.path, "shim"),
    `exec '${join(folder, "bin", "python")}' "$@"`,
  );
  expect(await findInterpreter({ searchPath, candidates: [shim] })).toEqual(real);
  expect(real.version).toMatch(/^3\.(1[1-9]|[2-9]\d)\.\d+$/);
});

test("an interpreter that the sandbox's user cannot reach is passed over for the next", async () => {
  const real = await findInterpreter({ searchPath, readableBy: STRANGER });
  const closed = join(workspace.path, "closed");
  await mkdir(closed, { mode: 0o700 });
  execFileSync("cp", [real.executable.path, join(closed, "python3")]);
  const candidates = [join(closed, "python3"), real.executable.path];
  expect(await findInterpreter({ searchPath, readableBy: STRANGER, candidates })).toEqual(real);
  const error = await catchProjectError(
    findInterpreter({ searchPath, readableBy: STRANGER, candidates: candidates.slice(0, 1) }),
  );
  expect(error.detail).toContain(`'${closed}' (mode 0700) is closed to uid ${id}`);
});

test("when nothing fits, each candidate is named with what was wrong", async () => {
  const old = await writeScript(
    join(workspace.path, "old"),
    `echo '["/old/python", "3.9.1", "/old", "/old/lib"]'`,
  );
  const broken = await writeScript(join(workspace.path, "broken"), "echo oops >&2; exit 3");
  const babble = await writeScript(join(workspace.path, "babble"), "echo hello");
  const missing = join(workspace.path, "missing");
  const error = await catchProjectError(
    findInterpreter({ searchPath, candidates: [old, broken, babble, missing] }),
  );
  expect(error.code).toBe("INTERPRETER_NOT_FOUND");
  expect(error.detail).toContain(`${old} (/old/python): is Python 3.9.1`);
  expect(error.detail).toContain(`${broken}: does not work (oops`);
  expect(error.detail).toContain(`${babble}: `);
  expect(error.detail).toMatch(/missing: does not work \(.*ENOENT/);
  expect(error.errors).toHaveLength(4);
  for (const { message } of [error, ...error.errors]) expect(message).toMatch(/[^.]\.$/u);
});

test("an installation kept for us is found when the search path has none", async () => {
  const real = await findInterpreter({ searchPath });
  const bin = join(workspace.path, "cpython-3.12", "bin");
  await mkdir(bin, { recursive: true });
  await symlink(real.executable.path, join(bin, "python3"));
  const found = await findInterpreter({ searchPath: "", managedDirectory: workspace.path });
  expect(found.version).toMatch(/^3\./);
});

test("access is judged by owner, group and others, and by every folder on the way", async () => {
  const file = join(workspace.path, "file");
  await writeFile(file, "x");
  await chmod(file, 0o640);
  expect(await findAccessFault(file, STRANGER, false)).toContain("mode 0640");
  await chmod(file, 0o644);
  expect(await findAccessFault(file, STRANGER, false)).toBeNull();
  expect(await findAccessFault(file, STRANGER, true)).toContain("mode 0644");
  await chmod(workspace.path, 0o744);
  expect(await findAccessFault(file, STRANGER, false)).toContain(`'${workspace.path}' (mode 0744)`);
});
