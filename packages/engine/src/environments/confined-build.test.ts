import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openEnvironmentScene, OWNER, runIn } from "../testing/environment-scene.ts";
import type { EnvironmentScene } from "../testing/environment-scene.ts";
import { findProcesses } from "../testing/find-processes.ts";
import { waitFor } from "../testing/python-fixture.ts";
import { catchProjectError } from "../testing/project-fixtures.ts";

/* Builds at isolation level C, where no code of a package shall run: Landlock holds what the installers let packages do, and code if it runs. */

let scene: EnvironmentScene;
beforeEach(async () => {
  scene = await openEnvironmentScene();
  scene.builder = scene.create({ bubblewrap: null, confined: true });
});
afterEach(() => scene.close());

const PYPROJECT =
  '[project]\nname = "evil"\nversion = "1"\n[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n';

/** Code of a package, in the place of an installer that a package misled: each attempt reports by a line of the build's log. */
function createBackend(attempts: string): string {
  return `
import os, pathlib, socket
def attempt(name, action):
    try: answer = action()
    except BaseException as error: answer = type(error).__name__
    print(f"ATTACK {name}: {answer}", flush=True)
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
${attempts.trim().replaceAll(/^/gm, "    ")}
    raise SystemExit(1)
`;
}

test("a program of a confined build writes to the folders of its step only, and reads nothing of the host but the system", async () => {
  const open = join(scene.path, "open");
  await mkdir(open);
  await chmod(open, 0o777);
  await writeFile(join(open, "secret"), "of the host", { mode: 0o644 });
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(join(open, "socket"), resolve));
  const project = await scene.createProject("project", {
    "requirements.txt": "./package\n",
    "package/pyproject.toml": PYPROJECT,
    "package/backend.py": createBackend(`
open_folder = ${JSON.stringify(open)}
work = pathlib.Path.cwd().parent.parent
attempt("own", lambda: pathlib.Path("made").write_text("x"))
attempt("outside", lambda: pathlib.Path(open_folder, "evil").write_text("x"))
attempt("temporary", lambda: pathlib.Path("/tmp/evil-of-a-build").write_text("x"))
attempt("shared", lambda: pathlib.Path("/dev/shm/evil-of-a-build").write_text("x"))
attempt("environment", lambda: (work.parent / "venv" / "evil.pth").write_text("x"))
attempt("prepared", lambda: (work.parent.parent.parent / "prepared" / "evil").write_text("x"))
attempt("secret", lambda: pathlib.Path(open_folder, "secret").read_text())
attempt("folder", lambda: os.listdir(open_folder))
attempt("parent", lambda: os.kill(${process.pid}, 0))
attempt("environ", lambda: len(pathlib.Path("/proc/${process.pid}/environ").read_bytes()))
attempt("shadow", lambda: pathlib.Path("/etc/shadow").read_text())
`),
  });
  const lines: string[] = [];
  await catchProjectError(
    scene.ensure(project, { sourceBuilds: true, onLog: (line) => lines.push(line.trim()) }),
  );
  server.close();
  const reports = lines.flatMap((line) => /^ATTACK ([^:]+: .*)$/.exec(line)?.[1] ?? []);
  expect(reports).toEqual([
    "own: 1",
    "outside: PermissionError",
    "temporary: PermissionError",
    "shared: PermissionError",
    "environment: PermissionError",
    "prepared: PermissionError",
    "secret: PermissionError",
    "folder: PermissionError",
    "parent: PermissionError",
    "environ: PermissionError",
    "shadow: PermissionError",
  ]);
  expect((await readdir(open)).toSorted()).toEqual(["secret"]);
});

test("wheels are installed by a confined build as by any other", async () => {
  const lines: string[] = [];
  const options = { owner: OWNER, onLog: (line: string) => lines.push(line) };
  const environment = await scene.ensure(await scene.createTinyProject("tiny"), options);
  expect(runIn(environment, "import tiny; print(tiny.ANSWER)")).toBe("42");
  expect(runIn(environment, "import pip, os; print(os.path.exists(pip.__cached__))")).toBe("True");
  expect(lines.join("\n")).not.toContain("could not be prepared");
});

const PARENT = fileURLToPath(new URL("../testing/build-parent.ts", import.meta.url));

test("no program of a confined build outlives a Node that was killed by kill -9, also while an index keeps it waiting", async () => {
  const index = createServer(() => undefined);
  await new Promise<void>((resolve) => index.listen(0, "127.0.0.1", resolve));
  const { port } = index.address() as AddressInfo;
  const parent = spawn(process.execPath, [PARENT, `http://127.0.0.1:${port}`], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env["PATH"] },
  });
  const asked = once(index, "connection");
  const [printed] = (await once(parent.stdout, "data")) as [Buffer];
  const folder = printed.toString().trim();
  try {
    const [connection] = (await asked) as [Socket];
    connection.on("error", () => undefined);
    expect(findProcesses(folder).length).toBeGreaterThan(0);
    parent.kill("SIGKILL");
    await waitFor("every process is gone", () => findProcesses(folder).length === 0);
  } finally {
    index.close();
    await rm(folder, { recursive: true, force: true });
  }
});
