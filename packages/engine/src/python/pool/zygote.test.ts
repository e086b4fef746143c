import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findZygote } from "../../testing/find-zygote.ts";
import { createFixture, waitFor } from "../../testing/python-fixture.ts";
import type { Fixture } from "../../testing/python-fixture.ts";
import type { Probe, RunnableVersion } from "../port/runtime.ts";
import { isOver } from "../watch/process-files.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture({ times: { failureMs: 300 } });
});
afterAll(() => fixture.close());

test("a module is imported once per version, each run is a process of its own", async () => {
  const version = fixture.createVersion(
    "import os\nIMPORT = os.urandom(8).hex()\nRUNS = []\ndef run():\n    RUNS.append(1)\n    return [IMPORT, len(RUNS), os.getpid()]",
  );
  const results = await Promise.all(
    Array.from(
      { length: 8 },
      async () => (await fixture.finish(version)).result as { value: [string, number, number] },
    ),
  );
  expect(new Set(results.map(({ value }) => value[0])).size).toBe(1);
  for (const { value } of results) expect(value.slice(1)).toEqual([1, 1]);
});

test("executions of one version run at the same time", async () => {
  const version = fixture.createVersion("import time\ndef run():\n    print('begun')\n    time.sleep(60)");
  const runs = Array.from({ length: 10 }, () => fixture.start(version));
  await waitFor("all have begun and none has ended", () => runs.every((run) => run.lines.length > 0));
  for (const run of runs) run.kill({ code: "CANCELLED", detail: "seen" });
  for (const run of runs) expect(await run.outcome).toMatchObject({ code: "CANCELLED" });
});

function readZygote(version: RunnableVersion): number | null {
  try {
    return findZygote(version);
  } catch {
    return null; // it is not there yet
  }
}

const THREAD =
  "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n";

test.each([
  ["a thread was started at import", THREAD, "auto"],
  ["a process was started at import", "import subprocess\nsubprocess.Popen(['sleep', '1000'])\n", "auto"],
  ["the version asks for it", "", "spawn"],
] as const)("each run has a fresh interpreter when %s", async (_, head, startMode) => {
  const program = `${head}import os\nIMPORTED = os.getpid()\nCOUNT = []\nprint('imported')\ndef run(data):\n    COUNT.append(1)\n    print('run')\n    return [IMPORTED == os.getpid(), len(COUNT), data['n'], os.environ['REGION'], os.environ['SERVICE_EXECUTION_ID'][:10]]`;
  const version = fixture.createVersion(program, { startMode, variables: { REGION: "eu" } });
  for (const n of [1, 2]) {
    const { result, lines } = await fixture.finish(version, { data: { n } });
    expect(result).toEqual({ value: [true, 1, n, "eu", "execution-"] });
    expect(lines.map((line) => line.message)).toEqual(["imported", "run"]);
  }
});

test("a spawned run is limited, cancelled and cleaned up like a forked one", async () => {
  const version = fixture.createVersion(
    "import os, time\ndef run(data):\n    open('/tmp/x', 'x')\n    if data.get('big'):\n        bytearray(2_000_000_000)\n    while True: pass",
    { startMode: "spawn" },
  );
  expect((await fixture.finish(version, { data: { big: 1 } })).outcome).toMatchObject({
    code: "OUT_OF_MEMORY",
  });
  expect((await fixture.finish(version, { timeoutSeconds: 0.3 })).outcome).toMatchObject({ code: "TIMEOUT" });
});

test.each([
  [
    "ends",
    "import os\nos._exit(3)",
    "The process ended while it was starting; user code may have ended it at import.",
  ],
  [
    "fails",
    "import nonexistent",
    "src/program.py cannot be imported: ModuleNotFoundError: No module named 'nonexistent'",
  ],
])("a spawned run whose import %s is STARTUP_ERROR", async (_, program, detail) => {
  const { outcome } = await fixture.finish(fixture.createVersion(program, { startMode: "spawn" }));
  expect(outcome).toMatchObject({ status: "FAILED", code: "STARTUP_ERROR", detail });
});

const BROKEN: ReadonlyArray<readonly [name: string, program: string, detail: string | RegExp]> = [
  [
    "a module that is missing",
    "print('importing')\nimport nonexistent",
    "src/program.py cannot be imported: ModuleNotFoundError: No module named 'nonexistent'",
  ],
  [
    "a syntax error",
    "def run(:\n  pass",
    /^src\/program.py cannot be imported: SyntaxError: invalid syntax/u,
  ],
  ["no run", "def ran(): pass", "src/program.py has no function named run."],
  ["a run that is no function", "run = 5", "run in src/program.py is not callable, it is of type int."],
  [
    "an argument we do not know",
    "def run(data, parameters): pass",
    "run has the parameter 'parameters': only data and params are passed, others need a default.",
  ],
  [
    "hints that do not resolve",
    "def run(data: 'Missing'): pass",
    "The hints of run cannot be resolved: NameError: name 'Missing' is not defined",
  ],
  ["sys.exit at import", "import sys\nsys.exit(2)", "src/program.py cannot be imported: SystemExit: 2"],
  [
    "os._exit at import",
    "import os\nos._exit(2)",
    /^The process ended with exit code 2 while it imported src\/program.py/u,
  ],
  [
    "an import that forks without end",
    "import os, time\npid = os.getpid()\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        if os.getpid() == pid:\n            raise\n        time.sleep(0.01)",
    "src/program.py cannot be imported: BlockingIOError: [Errno 11] Resource temporarily unavailable",
  ],
];

test.each(BROKEN)("%s is STARTUP_ERROR for each execution, with the reason", async (_, program, detail) => {
  const version = fixture.createVersion(program);
  const finished = await Promise.all([fixture.finish(version), fixture.finish(version)]);
  for (const { outcome } of finished) {
    expect(outcome).toMatchObject({ status: "FAILED", code: "STARTUP_ERROR" });
    expect("detail" in outcome ? outcome.detail : "").toMatch(detail);
  }
});

test.each(BROKEN)("the probe says the same of %s", async (_, program, detail) => {
  const probe = await fixture.runtime.probe(fixture.createVersion(program));
  expect(probe).toMatchObject({ ok: false, code: "STARTUP_ERROR" });
  expect(probe.ok ? "" : probe.detail).toMatch(detail);
});

test("the traceback of a failed import is in the log and in the probe", async () => {
  const version = fixture.createVersion("print('importing')\nimport nonexistent");
  const { lines } = await fixture.finish(version);
  expect(lines[0]).toMatchObject({ severity: "INFO", message: "importing" });
  const traceback = lines
    .slice(1)
    .map((line) => line.message)
    .join("\n");
  expect(traceback).toBe(
    "Traceback (most recent call last):\n  File \"/app/src/program.py\", line 2, in <module>\n    import nonexistent\nModuleNotFoundError: No module named 'nonexistent'",
  );
  expect(await fixture.runtime.probe(version)).toMatchObject({ ok: false, traceback });
});

test("an import without end is ended at its limit, forked, spawned or probed", async () => {
  const hasty = await createFixture({ times: { bootMs: 500 } });
  const detail = "The import of src/program.py took longer than 0.5 s.";
  for (const startMode of ["auto", "spawn"] as const) {
    const version = hasty.createVersion("while True: pass", { startMode });
    const { outcome } = await hasty.finish(version);
    expect(outcome).toEqual({ status: "FAILED", code: "STARTUP_ERROR", detail });
    expect(await hasty.runtime.probe(version)).toMatchObject({ ok: false, code: "STARTUP_ERROR", detail });
  }
  await hasty.close();
});

test("an import that fails is not repeated for each execution, but at once when the version was retired", async () => {
  const program =
    "import os\nprint('import', os.urandom(8).hex())\nif not os.path.exists('/app/ready'):\n    raise RuntimeError('no licence')\ndef run():\n    return 1";
  const patient = await createFixture({ times: { failureMs: 600_000 } });
  const broken = patient.createVersion(program);
  const imports = new Set<string | undefined>();
  for (let round = 0; round < 5; round += 1) {
    const { outcome, lines } = await patient.finish(broken);
    expect(outcome).toMatchObject({ code: "STARTUP_ERROR", detail: expect.stringContaining("no licence") });
    imports.add(lines[0]?.message);
  }
  expect(imports.size).toBe(1);
  const fixed = { ...patient.createVersion(program, {}, { ready: "" }), id: broken.id };
  expect((await patient.finish(fixed)).outcome).toMatchObject({ code: "STARTUP_ERROR" });
  await patient.runtime.retire(broken.id);
  expect((await patient.finish(fixed)).result).toEqual({ value: 1 });
  await patient.close();
});

test("why an import failed is told, though an execution comes before that is read", async () => {
  const version = fixture.createVersion(
    "import os, time\nopen('/proc/self/comm', 'w').write('importing')\nwhile not os.path.exists('/app/ready'): time.sleep(0.01)\nraise RuntimeError('no licence')",
  );
  const first = fixture.start(version);
  let zygote = 0;
  await waitFor("it imports", () => {
    zygote = readZygote(version) ?? 0;
    return zygote > 0 && readFileSync(`/proc/${zygote}/comm`, "latin1") === "importing\n";
  });
  writeFileSync(join(version.projectDirectory, "ready"), "");
  // This process is busy meanwhile: it reads nothing.
  const until = Date.now() + 1000;
  while (Date.now() < until && !isOver(zygote))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  const second = fixture.start(version);
  for (const run of [first, second])
    expect(await run.outcome).toMatchObject({ detail: expect.stringContaining("no licence") });
});

test("a version that could not start is tried again after a while", async () => {
  const program =
    "import os\nif not os.path.exists('/app/ready'):\n    raise RuntimeError('not yet')\ndef run():\n    return 1";
  const broken = fixture.createVersion(program);
  expect((await fixture.finish(broken)).outcome).toMatchObject({ code: "STARTUP_ERROR" });
  writeFileSync(join(broken.projectDirectory, "ready"), "");
  await expect.poll(async () => (await fixture.finish(broken)).result).toEqual({ value: 1 });
});

test("a project without src/program.py is refused by the probe, which says so", async () => {
  const version = fixture.createVersion("", {}, { "other/a.txt": "" });
  const empty = { ...version, projectDirectory: `${version.projectDirectory}/other` };
  expect(await fixture.runtime.probe(empty)).toMatchObject({
    ok: false,
    detail: "The project has no file src/program.py.",
  });
});

describe("the probe", () => {
  test("derives schemas from the hints", async () => {
    const program = `
from dataclasses import dataclass
from typing import Optional, TypedDict, Literal
@dataclass
class City:
    x: float
    next: Optional["City"] = None
class Options(TypedDict, total=False):
    mode: Literal["a", "b"]
def run(data: City, params: Options) -> list[int]:
    return []
`;
    const expected: Probe = {
      ok: true,
      startMode: "fork",
      startModeReason: null,
      inputSchema: {
        type: "object",
        properties: { data: { $ref: "#/$defs/City" }, params: { $ref: "#/$defs/Options" } },
        required: ["data"],
        $defs: {
          City: {
            type: "object",
            properties: {
              x: { type: "number" },
              next: { anyOf: [{ $ref: "#/$defs/City" }, { type: "null" }], default: null },
            },
            required: ["x"],
            additionalProperties: false,
          },
          Options: { type: "object", properties: { mode: { enum: ["a", "b"] } } },
        },
      },
      outputSchema: {
        type: "object",
        properties: { value: { type: "array", items: { type: "integer" } } },
        required: ["value"],
      },
      description: null,
    };
    expect(await fixture.runtime.probe(fixture.createVersion(program))).toEqual(expected);
  });

  test("has what a backend says of itself, and why it says nothing", async () => {
    const probe = async (describe: string) =>
      fixture.runtime.probe(fixture.createVersion(`def run(data, params): pass\n${describe}`), "backend");
    expect(await probe("def describe(): return {'type': 'SIMULATOR', 'bits': (1, 2)}")).toMatchObject({
      ok: true,
      description: { type: "SIMULATOR", bits: [1, 2] },
    });
    const cases: readonly (readonly [string, string])[] = [
      ["", "needs a function describe()"],
      ["describe = 3", "needs a function describe()"],
      ["def describe(): raise ValueError('no power')", "failed: ValueError: no power"],
      ["def describe(): return [1]", "must return a dict, not list"],
      ["def describe(): return {'at': float('nan')}", "is no JSON"],
      ["def describe(): return {'at': object()}", "is no JSON"],
      ["def describe(): return {'text': 'x' * 300_000}", "exceeds 262144 bytes"],
    ];
    for (const [describe, detail] of cases)
      expect(await probe(describe)).toMatchObject({
        ok: false,
        code: "BACKEND_NOT_DESCRIBED",
        detail: expect.stringContaining(detail),
      });
    const service = fixture.createVersion("def run(): pass\ndef describe(): raise ValueError()");
    expect(await fixture.runtime.probe(service)).toMatchObject({ ok: true, description: null });
  });

  test("says nothing where nothing is hinted, and knows what cannot be forked", async () => {
    expect(await fixture.runtime.probe(fixture.createVersion("def run(data, params): pass"))).toEqual({
      ok: true,
      inputSchema: null,
      outputSchema: null,
      description: null,
      startMode: "fork",
      startModeReason: null,
    });
    expect(await fixture.runtime.probe(fixture.createVersion(`${THREAD}def run(): pass`))).toMatchObject({
      ok: true,
      startMode: "spawn",
    });
  });
});
