import { chmodSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { listClosed } from "../testing/make-listable.ts";
import { createFixture, waitFor, findTestSandbox } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import type { Group } from "./sandbox/cgroups/cgroups.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";

let fixture: Fixture;
afterEach(() => fixture.close());

const PROGRAM = "def run():\n    return 1\n";
/** A seccomp filter: clone(2) with CLONE_NEWUSER is EPERM, as in a container that forbids it. */
const REFUSE_NAMESPACES = `
import ctypes, os, struct
number = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
rows = [(0x20, 0, 0, 0), (0x15, 0, 3, number), (0x20, 0, 0, 16), (0x45, 0, 1, 0x10000000), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
program = struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code))
assert ctypes.CDLL(None).prctl(22, 2, ctypes.c_char_p(program), 0, 0) == 0
`;

/** A real bubblewrap behind a script that refuses as long as the file `refusing` lies beside it. */
async function createFixtureWithGate(): Promise<{ readonly refuse: () => void; readonly allow: () => void }> {
  fixture = await createFixture();
  const gate = join(fixture.directory, "bwrap");
  const refusing = join(fixture.directory, "refusing");
  writeFileSync(
    gate,
    `#!/bin/sh\n[ -e ${refusing} ] && { echo 'No permissions to create new namespace' >&2; exit 1; }\nexec bwrap "$@"\n`,
    { mode: 0o755 },
  );
  const sandbox = await findTestSandbox({ bubblewrapPath: gate });
  const gated = await createFixture({ sandbox });
  const own = fixture;
  fixture = {
    ...gated,
    close: async () => {
      await gated.close();
      await own.close();
    },
  };
  return { refuse: () => writeFileSync(refusing, ""), allow: () => rmSync(refusing) };
}

/** The inputs of executions, in the folders of zygotes and on their way there. */
function listInputs(directory: string): readonly string[] {
  const folder = join(directory, "run");
  const staged = readdirSync(folder).filter((name) => name.startsWith("inputs-"));
  const places = readdirSync(join(folder, "z")).map((name) => join("z", name, "in"));
  return [...staged, ...places].flatMap((path) => listClosed(join(folder, path)));
}

describe("an execution that the machine could not start is not blamed on the project", () => {
  test("when the sandbox cannot be prepared; nothing is left behind", async () => {
    const sandbox: Sandbox = {
      report: { level: "D", missing: [] },
      cgroups: null,
      mayLink: false,
      explainNetwork: () => null,
      findFault: async () => null,
      prepare: () => {
        throw new Error("no uid is free");
      },
    };
    fixture = await createFixture({ sandbox });
    const version = fixture.createVersion(PROGRAM);
    expect(await fixture.finish(version)).toMatchObject({
      outcome: {
        status: "NOT_STARTED",
        scope: "worker",
        detail: expect.stringContaining("no uid is free"),
      },
      lines: [],
    });
    await expect(fixture.runtime.probe(version)).rejects.toThrow("no uid is free");
    await waitFor("the folders are gone", () => readdirSync(join(fixture.directory, "run/z")).length === 0);
  });

  test("when its input cannot be brought to its process; the next execution finds its own", async () => {
    fixture = await createFixture();
    const version = fixture.createVersion("def run(data): return data\n");
    const files = await fixture.stage('{"a":1}');
    files.discard();
    await waitFor("the input is gone", () => listInputs(fixture.directory).length === 0);
    expect((await fixture.finish(version, { files })).outcome).toMatchObject({
      status: "NOT_STARTED",
      scope: "worker",
      detail: expect.stringContaining("The input could not be brought to its process: ENOENT"),
    });
    const others = await fixture.stage('{"a":2}');
    expect((await fixture.finish(version, { files: others })).result).toEqual({ a: 2 });
    await waitFor("nothing is left", () => listInputs(fixture.directory).length === 0);
  });

  test("when the interpreter cannot be executed", async () => {
    fixture = await createFixture({}, "D");
    const version = fixture.createVersion(PROGRAM, { interpreter: "/usr/bin/python0" });
    expect((await fixture.finish(version)).outcome).toMatchObject({ status: "NOT_STARTED", scope: "worker" });
    await expect(fixture.runtime.probe(version)).rejects.toThrow("ENOENT");
  });

  test("when the interpreter is not in the sandbox", async () => {
    fixture = await createFixture();
    const version = fixture.createVersion(PROGRAM, { interpreter: "/usr/bin/python0" });
    expect((await fixture.finish(version)).outcome).toMatchObject({
      status: "NOT_STARTED",
      scope: "version",
      detail: expect.stringContaining("python0"),
    });
    await expect(fixture.runtime.probe(version)).rejects.toThrow("python0");
  });

  test("when the runner's files are gone", async () => {
    fixture = await createFixture();
    // Retries: it may still be compiled, into folders of its own.
    rmSync(join(fixture.directory, "run/runner"), { recursive: true, maxRetries: 100 });
    const { outcome } = await fixture.finish(fixture.createVersion(PROGRAM));
    expect(outcome).toMatchObject({ status: "NOT_STARTED", scope: "version" });
  });

  test("when bubblewrap refuses; as soon as it works again, so does the version", async () => {
    const gate = await createFixtureWithGate();
    const version = fixture.createVersion(PROGRAM);
    gate.refuse();
    const finished = await Promise.all([fixture.finish(version), fixture.finish(version)]);
    for (const { outcome, lines } of finished) {
      expect(outcome).toMatchObject({
        status: "NOT_STARTED",
        scope: "worker",
        detail: expect.stringContaining("No permissions to create new namespace"),
      });
      expect(lines).toEqual([]);
    }
    await expect(fixture.runtime.probe(version)).rejects.toThrow("No permissions");
    gate.allow();
    expect((await fixture.finish(version)).result).toEqual({ value: 1 });
  });

  test("when the system refuses to fork", async () => {
    fixture = await createFixture();
    const limit = "import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (1, 1))\n";
    expect((await fixture.finish(fixture.createVersion(limit + PROGRAM))).outcome).toMatchObject({
      status: "NOT_STARTED",
      scope: "version",
      detail: "The system refused a process: [Errno 11] clone: Resource temporarily unavailable",
    });
  });

  test("when the zygote has no descriptors left to connect it", async () => {
    fixture = await createFixture();
    const limit =
      "import os, resource\nused = max(map(int, os.listdir('/proc/self/fd')))\nresource.setrlimit(resource.RLIMIT_NOFILE, (used + 3, used + 3))\n";
    expect((await fixture.finish(fixture.createVersion(limit + PROGRAM))).outcome).toMatchObject({
      status: "NOT_STARTED",
      scope: "version",
      detail: "The system refused a process: it cannot be connected: [Errno 24] Too many open files",
    });
  });

  test("when nested namespaces are refused: none runs without them", async () => {
    fixture = await createFixture();
    expect((await fixture.finish(fixture.createVersion(REFUSE_NAMESPACES + PROGRAM))).outcome).toMatchObject({
      status: "NOT_STARTED",
      scope: "version",
      detail:
        "The system refused a process: [Errno 1] clone: Operation not permitted: the sandbox must allow nested user namespaces",
    });
  });

  test("when it was still waiting for a process as the worker stopped", async () => {
    fixture = await createFixture();
    const version = fixture.createVersion("import time\ntime.sleep(60)\ndef run(): ...\n");
    const waiting = fixture.start(version);
    await fixture.runtime.close();
    expect(await waiting.outcome).toMatchObject({ status: "NOT_STARTED", scope: "worker" });
    await waiting.ended;
    expect(await fixture.start(version).outcome).toMatchObject({ status: "NOT_STARTED", scope: "worker" });
  });
});

const OWN = await findTestSandbox();
const REFUSED = new Error("ENOSPC: no space left on device");
type GroupChanges = (name: string) => Partial<Group>;
const REFUSALS: ReadonlyArray<readonly [string, GroupChanges, RegExp]> = [
  [
    "no control group can be made for it",
    (name) => {
      if (name.includes("-")) throw REFUSED;
      return {};
    },
    /no control group could be made for it \(ENOSPC/u,
  ],
  [
    "its process cannot be moved into one",
    () => ({ enter: async () => Promise.reject(REFUSED) }),
    /A process ended before it was ready\./u,
  ],
];

test.runIf(OWN.cgroups !== null).each(REFUSALS)(
  "an execution is given back at once when %s",
  async (_, change, detail) => {
    const { cgroups } = OWN;
    if (cgroups === null) return;
    const create = (name: string): Group => {
      const changes = change(name);
      return { ...cgroups.create(name), ...changes };
    };
    fixture = await createFixture({ sandbox: { ...OWN, cgroups: { ...cgroups, create } } });
    const begun = performance.now();
    for (const startMode of ["auto", "spawn"] as const) {
      const { outcome } = await fixture.finish(fixture.createVersion(PROGRAM, { startMode }));
      expect(outcome).toMatchObject({ status: "NOT_STARTED", detail: expect.stringMatching(detail) });
    }
    expect(performance.now() - begun).toBeLessThan(10_000);
  },
);

test("an environment that ends its interpreter before the import is the project's fault", async () => {
  fixture = await createFixture();
  const files = { "venv/python": "#!/bin/sh\necho 'hook: no licence'\nexit 3\n" };
  const program = fixture.createVersion(PROGRAM, {}, files);
  const interpreter = join(program.projectDirectory, "venv/python");
  chmodSync(interpreter, 0o755);
  const version = { ...program, interpreter, readablePaths: [join(program.projectDirectory, "venv")] };
  const detail = /ended with exit code 3 before it could import src\/program\.py\.$/u;
  const { outcome, lines } = await fixture.finish(version);
  expect(outcome).toMatchObject({
    status: "FAILED",
    code: "STARTUP_ERROR",
    detail: expect.stringMatching(detail),
  });
  expect(lines.map((line) => line.message)).toEqual(["hook: no licence"]);
  expect(await fixture.runtime.probe(version)).toMatchObject({
    ok: false,
    code: "STARTUP_ERROR",
    detail: expect.stringMatching(detail),
    traceback: "hook: no licence",
  });
});
