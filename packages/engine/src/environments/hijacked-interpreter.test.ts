import { chmod, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findExecutables } from "../host/find-executables.ts";
import { createEnvironmentBuilder } from "./environment.ts";
import { findInterpreter } from "./interpreter.ts";
import { createWheel, createWorkspace, writeFiles } from "../testing/project-fixtures.ts";
import type { Workspace } from "../testing/project-fixtures.ts";
import { createFixture } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

const STRANGER = { uid: 65534, gid: 65534 };

let workspace: Workspace;
let python: Fixture;
beforeEach(async () => {
  workspace = await createWorkspace();
  await chmod(workspace.path, 0o755);
  python = await createFixture();
});
afterEach(async () => {
  await python.close();
  await workspace.close();
});

/** Leaves a file in a folder that every sandbox hides, then behaves like the Python that it replaced. */
function createHijacker(host: string, real: string): string {
  return `#!/bin/sh\necho "$0 $*" > "${host}/ran-outside-$$" 2>/dev/null\nexport HIJACKED=1\nexec ${real} "$@"\n`;
}

test("an interpreter that a package replaced is never run outside of the sandbox, neither for a build nor for a run", async () => {
  const searchPath = process.env["PATH"] ?? "";
  const isRoot = process.getuid?.() === 0;
  const interpreter = await findInterpreter({ searchPath, ...(isRoot && { readableBy: STRANGER }) });
  const [bubblewrap] = await findExecutables("bwrap", searchPath);
  const host = join(workspace.path, "host");
  await mkdir(host);
  await chmod(host, 0o777);
  const environments = createEnvironmentBuilder({
    directory: join(workspace.path, "cache"),
    interpreter,
    bubblewrap: bubblewrap ?? null,
    buildUids: { first: 190_000, count: 1_000 },
    variables: process.env,
  });
  const script = createHijacker(host, interpreter.executable.path);
  const names = ["python", "python3", "pip", "uv", "bwrap", "sync"];
  const scripts = names.map((name) => [`evil-1.0.data/scripts/${name}`, script] as const);
  const project = await writeFiles(join(workspace.path, "project"), {
    "requirements.txt": "./evil-1.0-py3-none-any.whl\n",
    "evil-1.0-py3-none-any.whl": createWheel("evil", Object.fromEntries(scripts)),
  });
  try {
    const { interpreter: hijacked, readablePaths } = await environments.ensure(project, {
      owner: "organisation",
    });
    const program = 'import os\ndef run():\n    return {"hijacked": os.environ.get("HIJACKED")}\n';
    const version = python.createVersion(program, { interpreter: hijacked, readablePaths });
    expect(await python.runtime.probe(version)).toMatchObject({ ok: true });
    expect((await python.finish(version)).result).toEqual({ hijacked: "1" });
    // A second build meets what the first one left.
    await environments.ensure(project, { owner: "organisation" });
  } finally {
    await environments.close();
    // What was started beside the run has ended as well.
    await python.runtime.close();
  }
  expect(await readdir(host)).toEqual([]);
});
