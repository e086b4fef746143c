import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BUILD_UIDS, isRoot, openEnvironmentScene, runIn } from "../testing/environment-scene.ts";
import type { EnvironmentScene } from "../testing/environment-scene.ts";
import { findCgroups } from "../python/sandbox/cgroups/find-cgroups.ts";
import { catchProjectError, createRawZip, createWheel, writeFiles } from "../testing/project-fixtures.ts";

/* What a hostile author can try with code that runs while a package is built. Each attack reports by a line of the build's log. */

let scene: EnvironmentScene;
beforeEach(async () => {
  scene = await openEnvironmentScene();
});
afterEach(() => scene.close());

const PYPROJECT =
  '[project]\nname = "evil"\nversion = "1"\n[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n';

const HELPERS = `
import os, pathlib, socket, subprocess, sys
def attempt(name, action):
    try: answer = action()
    except BaseException as error: answer = type(error).__name__
    print(f"ATTACK {name}: {answer}", flush=True)
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    attack()
    raise SystemExit(1)
`;

/** Builds a package whose backend runs `attack`; resolves to what it reported, and how the build failed. */
async function attack(body: string, source = scene) {
  const project = await source.createProject(`evil-${(attacks += 1)}`, {
    "requirements.txt": "./package\n",
    "package/pyproject.toml": PYPROJECT,
    "package/backend.py": `${HELPERS}\ndef attack():\n${body.trim().replaceAll(/^/gm, "    ")}\n`,
  });
  const lines: string[] = [];
  const error = await catchProjectError(
    source.ensure(project, { sourceBuilds: true, onLog: (line) => lines.push(line.trim()) }),
  );
  const reports = lines.flatMap((line) => {
    const [, name, answer] = /^ATTACK ([^:]+): (.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, answer] as const];
  });
  return { reports: Object.fromEntries(reports), lines, error };
}
let attacks = 0;

const quote = (text: string): string => JSON.stringify(text);

test("code of a package sees the system, its own source and what was downloaded for it, and nothing else of the host", async () => {
  const data = await writeFiles(join(scene.path, "data"), { "other-project/code.py": "x" });
  // Another build's folder, and what it left.
  await scene.ensure(await scene.createTinyProject("other"));
  const { reports } = await attack(`
attempt("uid", os.getuid)
attempt("root", lambda: sorted(os.listdir("/")))
attempt("etc", lambda: sorted(os.listdir("/etc")))
attempt("accounts", lambda: len(open("/etc/passwd").readlines()))
attempt("shadow", lambda: open("/etc/shadow").read())
attempt("home", lambda: os.listdir(${quote(homedir())}))
attempt("data", lambda: os.listdir(${quote(data)}))
attempt("temporary", lambda: len(os.listdir(${quote(tmpdir())})))
attempt("builds", lambda: len(os.listdir(${quote(join(scene.path, "cache", "environments"))})))
attempt("cache", lambda: os.listdir(${quote(join(scene.path, "cache", "cache"))}))
attempt("processes", lambda: any("vitest" in pathlib.Path(f"/proc/{pid}/cmdline").read_text() for pid in os.listdir("/proc") if pid.isdigit()))
`);
  const { root, ...others } = reports;
  expect(others).toMatchObject({
    accounts: "2",
    shadow: "FileNotFoundError",
    home: "FileNotFoundError",
    data: "FileNotFoundError",
    builds: "1",
    cache: "FileNotFoundError",
    processes: "False",
  });
  const uid = Number(others["uid"]);
  const isOwn = isRoot
    ? uid >= BUILD_UIDS.first && uid < BUILD_UIDS.first + BUILD_UIDS.count
    : uid === process.getuid?.();
  expect(isOwn).toBe(true);
  expect(others["etc"]).not.toContain("ssl");
  for (const folder of ["home", "root", "var", "srv", "opt", "run"])
    expect(root).not.toContain(`'${folder}'`);
});

test("code of a package can write neither the environment, nor downloads, nor the requirements, nor the system", async () => {
  const { reports } = await attack(`
work = pathlib.Path.cwd().parent.parent
def write(path):
    pathlib.Path(path).write_text("x")
attempt("environment", lambda: write(work.parent / "venv" / "lib" / "evil.pth"))
attempt("interpreter", lambda: write(work.parent / "venv" / "bin" / "python"))
attempt("prepared", lambda: write(work.parent.parent.parent / "prepared" / "evil"))
attempt("download", lambda: write(work / "fetched" / "packages" / "six-9.9-py3-none-any.whl"))
attempt("requirements", lambda: open(work / "requirements.txt"))
attempt("accounts", lambda: write("/etc/passwd"))
attempt("system", lambda: write("/usr/lib/evil"))
attempt("top", lambda: write("/evil"))
attempt("device", lambda: write("/dev/evil"))
attempt("namespace", lambda: subprocess.run(["unshare", "--user", "--map-root-user", "true"], stderr=-3).returncode)
`);
  const { namespace, ...writes } = reports;
  expect(Object.keys(writes)).toHaveLength(9);
  for (const [name, answer] of Object.entries(writes))
    expect(`${name}: ${answer}`).toMatch(/: (OSError|PermissionError|FileNotFoundError)$/);
  expect(namespace).not.toBe("0");
});

test("code of a package has no network: neither the host's loopback nor any route", async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { reports } = await attack(`
attempt("loopback", lambda: socket.create_connection(("127.0.0.1", ${port}), 5))
attempt("outside", lambda: socket.create_connection(("192.0.2.1", 80), 5))
attempt("interfaces", lambda: [name for _, name in socket.if_nameindex()])
`);
  server.close();
  expect(reports).toEqual({
    loopback: "ConnectionRefusedError",
    outside: "OSError",
    interfaces: "['lo']",
  });
  expect(connections).toBe(0);
});

test("credentials of an index reach the step that downloads, and neither code of a package nor the log", async () => {
  const config = join(scene.path, "pip.conf");
  await writeFiles(scene.path, {
    "pip.conf": "[global]\nextra-index-url = http://reader:c0nfigured@127.0.0.1:9/simple\n",
  });
  scene.builder = scene.create({
    variables: {
      ...process.env,
      PIP_INDEX_URL: "http://reader:s3cret@127.0.0.1:9/simple",
      UV_INDEX_PRIVATE_PASSWORD: "pr1vate",
      https_proxy: "http://t0ken@127.0.0.1:9",
      PIP_RETRIES: "0",
      PIP_CONFIG_FILE: config,
    },
  });
  const { reports, lines } = await attack(`
SECRETS = ("s3cret", "pr1vate", "t0ken", "c0nfigured")
def search():
    found = []
    for folder, _, names in os.walk("/"):
        if folder.startswith(("/usr", "/sys")) or "/task/" in folder: continue
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.isfile(path) or os.path.islink(path) or path.endswith("backend.py") or "kmsg" in path or "kcore" in path or path.endswith((".pyc", "/mem")): continue
            try: content = open(path, "rb").read(1 << 20)
            except OSError: continue
            if path.startswith("/proc/") and "/cmdline" not in path and "/environ" not in path: continue
            found += [path for secret in SECRETS if secret.encode() in content]
    return found
attempt("environment", lambda: [name for name, value in os.environ.items() for secret in SECRETS if secret in value])
attempt("files", search)
`);
  expect(reports).toEqual({ environment: "[]", files: "[]" });
  expect(lines.join("\n")).not.toMatch(/s3cret|pr1vate|t0ken|c0nfigured/);
  // pip strikes out what it takes for credentials itself; an operator's mistake it repeats as it is.
  scene.builder = scene.create({
    variables: {
      PIP_INDEX_URL: "https://127.0.0.1:9/simple",
      PIP_CERT: "https://reader:s3cret@127.0.0.1/ca.pem",
      PIP_RETRIES: "0",
    },
  });
  const project = await scene.createProject("absent", { "requirements.txt": "six==1.16.0\n" });
  const said: string[] = [];
  const { detail } = await catchProjectError(scene.ensure(project, { onLog: (line) => said.push(line) }));
  expect(said.join("\n")).toContain("reader:****@127.0.0.1/ca.pem");
  expect([...said, detail].join("\n")).not.toContain("s3cret");
});

test("a process that a package leaves running ends with the step that started it", async () => {
  const mark = `37${process.pid}.5`;
  const { reports } = await attack(`
attempt("left", lambda: subprocess.Popen(["sleep", "${mark}"], start_new_session=True, stdin=-3, stdout=-3, stderr=-3).pid > 0)
`);
  expect(reports).toEqual({ left: "True" });
  const commands = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  expect(commands.filter((line) => line.endsWith(mark))).toEqual([]);
});

test("processes, memory, files and the size of one file are bounded for code of a package", async () => {
  scene.builder = scene.create({
    limits: { processes: 40, memoryBytes: 300 * 1024 ** 2, fileBytes: 20 * 1024 ** 2 },
  });
  const { reports } = await attack(
    `
def fork():
    count = 0
    while True:
        if os.fork() == 0:
            import time
            time.sleep(3)
            os._exit(0)
        count += 1
        if count > 200: return "without end"
attempt("fork bomb", fork)
attempt("memory bomb", lambda: len(bytearray(400 << 20)))
attempt("large file", lambda: (signal(), pathlib.Path("large").write_bytes(bytes(30 << 20))))
attempt("tmp", lambda: [pathlib.Path(f"/tmp/{n}").write_bytes(bytes(8 << 20)) for n in range(40)])
attempt("shared memory", lambda: [pathlib.Path(f"/dev/shm/{n}").write_bytes(bytes(8 << 20)) for n in range(80)])
attempt("descriptors", lambda: [os.open("/dev/null", 0) for _ in range(10_000)])
`.replaceAll("signal()", "__import__('signal').signal(25, __import__('signal').SIG_IGN)"),
  );
  expect(reports).toEqual({
    "fork bomb": "BlockingIOError",
    "memory bomb": "MemoryError",
    "large file": "OSError",
    descriptors: "OSError",
    tmp: "OSError",
    "shared memory": "OSError",
  });
});

test.runIf(isRoot)(
  "the processes of a build share one bound of memory where there are control groups",
  async () => {
    const { cgroups } = await findCgroups(BUILD_UIDS.first);
    scene.builder = scene.create({ cgroups, limits: { memoryBytes: 200 * 1024 ** 2 } });
    const { error } = await attack(`
import time
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(b"x") * (60 << 20)
        time.sleep(3)
        os._exit(0)
for _ in range(8): os.wait()
raise SystemExit(2)
`);
    await cgroups?.close();
    expect(error.detail).toContain("took more than 200 MB of memory");
  },
);

test("a build that fills the disk is stopped at the limit of an environment, and leaves nothing", async () => {
  scene.builder = scene.create({ sizeLimits: { bytes: 40 * 1024 ** 2, entries: 100_000 } });
  const { error } = await attack(`
import itertools
for number in itertools.count():
    pathlib.Path(f"large-{number}").write_bytes(bytes(10 << 20))
    if number > 20: __import__("time").sleep(60)
`);
  expect(error.detail).toContain("take more than 40 MB");
  expect(await readdir(join(scene.path, "cache", "environments"))).toEqual([]);
});

const MARK = "RAN-WHILE-INSTALLING";
const SETUP = `print("${MARK}")\nopen("/tmp/x", "w")\nraise SystemExit("${MARK}")\n`;

/** A wheel whose metadata names a source by its place, which pip would otherwise build while it downloads. */
function createLure(target: string): Buffer {
  const info = "lure-1.0.dist-info";
  const files = {
    "lure.py": "",
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: lure\nVersion: 1.0\nRequires-Dist: source @ ${target}\n`,
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    [`${info}/RECORD`]: "",
  };
  return createRawZip(Object.entries(files).map(([name, text]) => ({ name, content: Buffer.from(text) })));
}

test("no code of a package runs while packages are downloaded, also when a wheel names a source by address", async () => {
  const source = await writeFiles(join(scene.path, "source"), { "setup.py": SETUP });
  for (const sourceBuilds of [false, true]) {
    const project = await scene.createProject(`lure-${sourceBuilds}`, {
      "requirements.txt": "./lure-1.0-py3-none-any.whl\n",
      "lure-1.0-py3-none-any.whl": createLure(`file://${source}`),
    });
    scene.builder = scene.create({ variables: { ...process.env, PIP_FIND_LINKS: source } });
    const lines: string[] = [];
    await catchProjectError(scene.ensure(project, { sourceBuilds, onLog: (line) => lines.push(line) }));
    expect(lines.join("\n")).not.toContain(MARK);
  }
});

test("a project that needs a source is told so by its line, before anything is installed", async () => {
  const lines = [
    "./package",
    "https://example.org/x-1.0.tar.gz",
    "https://example.org/x-1.0.tar.gz#y.whl",
    "x @ git+https://example.org/x.whl",
    "--no-binary x\nsix",
  ];
  for (const line of lines) {
    const project = await scene.createProject(`source-${(attacks += 1)}`, {
      "requirements.txt": `${line}\n`,
      "package/setup.py": "",
    });
    const error = await catchProjectError(scene.ensure(project));
    expect(error.code).toBe("INVALID_PROJECT");
    expect(error.detail).toMatch(/^requirements\.txt, line 1: '/);
    expect(error.detail).toContain('set "sourceBuilds": true in platform.json');
  }
});

test(
  "a package without a wheel fails the build with its name and the setting; with the setting it is built",
  { tags: "full" },
  async () => {
    const index = await writeFiles(join(scene.path, "index"), {
      "old-1.0/PKG-INFO": "Metadata-Version: 2.1\nName: old\nVersion: 1.0\nRequires-Dist: tiny\n",
      "old-1.0/pyproject.toml": PYPROJECT.replace("evil", "old"),
      "old-1.0/backend.py": OLD_BACKEND,
      "tiny-1.0-py3-none-any.whl": createWheel("tiny", { "tiny.py": "ANSWER = 42\n" }),
    });
    execFileSync("tar", ["-czf", join(index, "old-1.0.tar.gz"), "-C", index, "old-1.0"]);
    const variables = { ...process.env, PIP_NO_INDEX: "1", PIP_FIND_LINKS: index };
    scene.builder = scene.create({ variables });
    const project = await scene.createProject("project", { "requirements.txt": "old==1.0\n" });
    const { detail } = await catchProjectError(scene.ensure(project));
    expect(detail).toContain("old==1.0");
    expect(detail).toContain('set "sourceBuilds": true in platform.json');
    const environment = await scene.ensure(project, { sourceBuilds: true });
    expect(runIn(environment, "import old, tiny; print(old.ANSWER)")).toBe("42");
    const log = await readFile(`${environment.folder}.log`, "utf8");
    expect(log).toContain("Building packages from source");

    scene.builder = scene.create({ variables, allowsSourceBuilds: false });
    const forbidden = await catchProjectError(scene.ensure(project, { sourceBuilds: true }));
    expect(forbidden).toMatchObject({ code: "INVALID_PROJECT", errors: [{ path: "/sourceBuilds" }] });
  },
);

test(
  "a folder of the project is built with what its pyproject.toml names, extras included",
  { tags: "full" },
  async () => {
    const metadata =
      'dependencies = ["tiny>=1"]\noptional-dependencies = { dev = ["more ; python_version > \'3\'"] }\n';
    const project = await scene.createProject("project", {
      "requirements.txt": "./package[dev]\n--find-links ./wheels\n--no-index\n",
      "package/pyproject.toml": PYPROJECT.replace("evil", "old").replace("[build", `${metadata}[build`),
      "package/backend.py": OLD_BACKEND,
      "wheels/tiny-1.0-py3-none-any.whl": createWheel("tiny", { "tiny.py": "ANSWER = 42\n" }),
      "wheels/more-1.0-py3-none-any.whl": createWheel("more", { "more.py": "" }),
    });
    const environment = await scene.ensure(project, { sourceBuilds: true });
    expect(runIn(environment, "import old, tiny, more; print(old.ANSWER)")).toBe("42");
  },
);

const OLD_BACKEND = `
import os, zipfile
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "old-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        wheel.writestr("old.py", "from tiny import ANSWER\\n")
        wheel.writestr("old-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: old\\nVersion: 1.0\\nRequires-Dist: tiny\\n")
        wheel.writestr("old-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("old-1.0.dist-info/RECORD", "")
    return name
`;
