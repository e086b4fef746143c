import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFixture } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());

test("nothing that a run does to the process is seen by the next", async () => {
  const program = `
import os, tempfile
COUNT = []
def run():
    COUNT.append(1)
    os.environ["LEFT"] = os.environ.get("LEFT", "") + "x"
    open("/tmp/left", "a").write("x")
    open("/dev/shm/left", "a").write("x")
    tempfile.NamedTemporaryFile(delete=False)
    open(os.path.join(os.environ["OUTPUT_DIRECTORY"], "file"), "x").write("x")
    return [len(COUNT), os.environ["LEFT"], open("/tmp/left").read(), open("/dev/shm/left").read(), len(os.listdir(tempfile.gettempdir())), os.listdir(os.environ["OUTPUT_DIRECTORY"])]
`;
  const version = fixture.createVersion(program);
  const results = await Promise.all([1, 2, 3].map(async () => (await fixture.finish(version)).result));
  expect(results).toEqual([1, 2, 3].map(() => ({ value: [1, "x", "x", "x", 3, ["file"]] })));
});

test("the environment holds what was promised and nothing of the host's", async () => {
  const version = fixture.createVersion(
    "import os\nAT_IMPORT = os.environ['REGION']\ndef run():\n    return {'env': dict(os.environ), 'cwd': os.getcwd(), 'import': AT_IMPORT}",
    { variables: { REGION: "eu", TOKEN: "s3cret" } },
  );
  const { result } = await fixture.finish(version);
  expect(result).toEqual({
    cwd: "/app",
    import: "eu",
    env: {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: "/tmp",
      TMPDIR: "/tmp",
      LANG: "C.UTF-8",
      PWD: "/app",
      GLIBC_TUNABLES: "glibc.malloc.hugetlb=1",
      OMP_NUM_THREADS: "1",
      OPENBLAS_NUM_THREADS: "1",
      MKL_NUM_THREADS: "1",
      LOG_LEVEL: "INFO",
      OUTPUT_DIRECTORY: "/tmp/output",
      REGION: "eu",
      TOKEN: "s3cret",
      SERVICE_EXECUTION_ATTEMPT: "1",
      SERVICE_EXECUTION_ID: expect.stringMatching(/^execution-\d+$/u),
    },
  });
});

test("a variable cannot act on the sandbox itself", async () => {
  const version = fixture.createVersion("import os\ndef run():\n    return os.environ['LD_PRELOAD']", {
    variables: { LD_PRELOAD: "/app/evil.so", PYTHONPATH: "/app/other" },
  });
  const { result, lines } = await fixture.finish(version);
  expect(result).toEqual({ value: "/app/evil.so" });
  expect(lines).toEqual([]);
});

test("the system is read-only, the host's files and processes are not there, and nothing runs as root", async () => {
  const program = `
import os
def attempt(path):
    try:
        open(path, "w").close()
        return path
    except OSError:
        return None
def run(params):
    targets = ["/app/x", "/usr/x", "/etc/x", "/x", "/dev/x", "/run/platform/x", "/run/platform/zygote/x", "/run/platform/runner/x", "/proc/sys/kernel/hostname"]
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return {
        "written": [path for path in map(attempt, targets) if path],
        "seen": [path for path in params["host"] if os.path.exists(path)],
        "root": os.listdir("/root") if os.path.exists("/root") else [],
        "pids": len([name for name in os.listdir("/proc") if name.isdigit()]) < 20,
        "capabilities": [int(status[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")],
        "zero": os.getuid() == 0 or os.geteuid() == 0,
        "privileges": status["NoNewPrivs"].strip(),
    }
`;
  const { result } = await fixture.finish(fixture.createVersion(program), {
    params: { host: [fixture.directory, import.meta.dirname, "/etc/shadow"] },
  });
  expect(result).toEqual({
    written: [],
    seen: [],
    root: [],
    pids: true,
    capabilities: [0, 0, 0, 0],
    zero: false,
    privileges: "1",
  });
});

test.runIf(process.getuid?.() === 0)("two versions run as different users of the host", async () => {
  const program = "import os\ndef run():\n    return os.getuid()";
  const results = [];
  for (const version of [fixture.createVersion(program), fixture.createVersion(program)])
    results.push((await fixture.finish(version)).result);
  expect(results[0]).not.toEqual(results[1]);
  for (const result of results)
    expect(result).toEqual({ value: expect.toSatisfy((uid: number) => uid >= 200_000) });
});

test("functions that the module registered for a fork run once for each run", async () => {
  const program = `
import os
SEEN = []
os.register_at_fork(before=lambda: SEEN.append("before"), after_in_parent=SEEN.clear, after_in_child=lambda: SEEN.append("child"))
def run():
    return SEEN
`;
  const version = fixture.createVersion(program);
  for (let round = 0; round < 3; round += 1)
    expect((await fixture.finish(version)).result).toEqual({ value: ["before", "child"] });
});

test("siblings draw different random numbers, although they come from one process", async () => {
  const version = fixture.createVersion(
    "import random\nrandom.seed(1)\ndef run():\n    return random.random()",
  );
  const results = await Promise.all(
    [1, 2, 3].map(async () => JSON.stringify((await fixture.finish(version)).result)),
  );
  expect(new Set(results).size).toBe(3);
});

test("generators that the module made without a seed draw anew in each run; those with a seed as it says", async () => {
  const program = `
import random
from numpy.random.bit_generator import BitGenerator
MADE = [random.Random(), BitGenerator()]
SEEDED = [random.Random(7), BitGenerator(7)]
def run():
    return [[plain.random(), str(numpy.state)] for plain, numpy in (MADE, SEEDED)]
`;
  // As numpy does it (numpy/random/bit_generator.pyx, 2.4), which the tests do not install.
  const generator = `
from secrets import randbits
class SeedSequence:
    def __init__(self, entropy):
        self.entropy = randbits(128) if entropy is None else entropy
class BitGenerator:
    def __init__(self, seed=None):
        self.seed_seq = SeedSequence(seed)
        self.state = self.seed_seq.entropy
`;
  const version = fixture.createVersion(
    program,
    {},
    {
      "numpy/__init__.py": "",
      "numpy/random/__init__.py": "",
      "numpy/random/bit_generator.py": generator,
    },
  );
  type Drawn = readonly [plain: number, numpy: string];
  const results: Array<{ readonly value: readonly [made: Drawn, seeded: Drawn] }> = [];
  for (let round = 0; round < 3; round += 1)
    results.push((await fixture.finish(version)).result as (typeof results)[number]);
  const made = results.map(({ value }) => value[0]);
  expect(new Set(made.map(([plain]) => plain)).size).toBe(3);
  expect(new Set(made.map(([, numpy]) => numpy)).size).toBe(3);
  const seeded = results.map(({ value }) => value[1]);
  expect(seeded).toEqual([[0.32383276483316237, "7"], seeded[0], seeded[0]]);
});

test("threads and processes have a limit of their own per execution", async () => {
  const program = `
import os, time
def run():
    count = 0
    try:
        while count < 1000:
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            count += 1
    except BlockingIOError:
        pass
    return count
`;
  const version = fixture.createVersion(program);
  const results = await Promise.all([fixture.finish(version), fixture.finish(version)]);
  expect(results.map(({ result }) => result)).toEqual([{ value: 255 }, { value: 255 }]);
});

describe("without a sandbox (trusted code only)", () => {
  let open: Fixture;
  beforeAll(async () => {
    open = await createFixture({}, "D");
  });
  afterAll(() => open.close());

  test("a run has folders of its own and a clean environment all the same", async () => {
    const program =
      "import os, tempfile\ndef run(data):\n    print(1)\n    open(os.path.join(tempfile.gettempdir(), 'a'), 'x')\n    return {'clean': 'VITEST' not in os.environ, 'own': os.environ['TMPDIR'] == os.environ['HOME'] == tempfile.gettempdir(), 'n': len(os.listdir(tempfile.gettempdir()))}";
    const version = open.createVersion(program);
    for (let round = 0; round < 2; round += 1) {
      const { result, lines } = await open.finish(version);
      expect(result).toEqual({ clean: true, own: true, n: 2 });
      expect(lines).toHaveLength(1);
    }
  });

  test("limits of memory and time hold, and grandchildren end with the run", async () => {
    const version = open.createVersion(
      "import subprocess\ndef run(data):\n    if data.get('big'):\n        bytearray(2_000_000_000)\n    subprocess.Popen(['sleep', '60'], start_new_session=True)\n    while True: pass",
    );
    expect((await open.finish(version, { data: { big: 1 } })).outcome).toMatchObject({
      code: "OUT_OF_MEMORY",
    });
    expect((await open.finish(version, { timeoutSeconds: 0.3 })).outcome).toMatchObject({ code: "TIMEOUT" });
  });
});
