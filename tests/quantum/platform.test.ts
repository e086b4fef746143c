/** One platform with every bundled backend: the command line, the tests of the SDK that need a platform, its wheel, and jobs that are hostile. */
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { env, stdout } from "node:process";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createDemoCli } from "../../tools/demo/demo-cli.ts";
import { runQuantum } from "../../tools/demo/quantum.ts";
import { REPOSITORY } from "../../tools/platform-process.ts";
import { runOk } from "../clients/tools.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { listPromised, prepareFolder, readSnippets, runSnippet } from "./guide.ts";
import { listHostileJobs } from "./hostile-jobs.ts";
import type { Circuits } from "./hostile-jobs.ts";
import { forEachOf, quantum, runJob } from "./jobs.ts";
import { createRandom, mutate } from "./mutate.ts";
import { BRAKET, OLDEST, PENNYLANE, SDK, findPython, runPytest } from "./pytest.ts";
import type { Outcome } from "./pytest.ts";
import { deflateSync } from "node:zlib";
import { PUBLISHED } from "./published-sdks.ts";
import { ANNEALING, COIN_TOSS, RANDOM_NUMBER, deploySample } from "./samples.ts";
import { OLDER, deployVariant } from "./variant.ts";
import { findZygotes } from "./zygotes.ts";
import { IS_FULL_LENGTH } from "../support/full-length.ts";

const MINUTE = 60_000;
const BACKENDS = join(REPOSITORY, "backends");
const SEED = Number(env["PLATFORM_TEST_SEED"] ?? 7);
const MUTATIONS = IS_FULL_LENGTH ? 4_000 : 60;
/** 400 MB of packages are downloaded and installed. */
const INSTALLS = { timeout: 15 * MINUTE };
const BELL =
  'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nbit[2] c;\nh q[0];\ncx q[0], q[1];\nc = measure q;\n';

const found = await findPython();
const python = "python" in found ? found.python : "";
const missing = "reason" in found ? found.reason : null;
const snippets = await readSnippets();
/** The simulators: what leads to the device of a vendor needs a key. */
const bundled = await listSimulators();
const acceptance = (await readdir(join(SDK, "tests/acceptance"))).filter((name) => name.startsWith("test_"));

test.runIf(missing !== null)("a platform with bundled backends", ({ skip }) => {
  expect(missing).toContain("cannot be reached");
  skip(missing ?? "");
});

describe.skipIf(missing !== null)("a platform with bundled backends", () => {
  let world: World;
  let environment: Readonly<Record<string, string>>;

  beforeAll(async () => {
    world = await createWorld({ flags: ["--backend-cpu", "2"] });
    environment = {
      PLATFORM_ENDPOINT: world.platform.apiUrl,
      PLATFORM_PERSONAL_ACCESS_TOKEN: world.login.personalAccessToken,
      PLATFORM_CONFIG_DIR: join(world.directory, "none"),
    };
  });
  afterAll(() => world?.close());

  /** The command line of the demo, in the folder of a project. */
  function openDemo(project?: string) {
    return createDemoCli(join(world.directory, "demo"), world.platform.apiUrl, project);
  }

  /** Of a snippet. The login is the one that the first snippet stores: Python gets no token. */
  function readOptions(language: string) {
    const { PLATFORM_PERSONAL_ACCESS_TOKEN: token = "", ...others } = environment;
    const folder = join(world.directory, "guide");
    const own = { ...others, PLATFORM_CONFIG_DIR: join(folder, "config"), PYTHONPATH: SDK };
    const withToken = { ...own, PLATFORM_PERSONAL_ACCESS_TOKEN: token };
    return { folder, python, environment: language === "sh" ? withToken : own };
  }

  async function cli(...args: readonly string[]): Promise<unknown> {
    const { code, stdout, stderr } = await world.cli(world.directory, ...args, "--json");
    if (code !== 0)
      throw new Error(
        `platform ${args.join(" ")} ended with ${code}:\n${stderr}${stdout}\n${world.platform.readLog()}`,
      );
    return JSON.parse(stdout);
  }

  test.for(bundled)("platform backends install %s makes a backend that is online", INSTALLS, async (name) => {
    expect(await cli("backends", "install", name)).toMatchObject({
      id: `sim.${name}`,
      status: "ONLINE",
      changed: true,
    });
  });

  test("platform quantum run measures a Bell pair on sim.statevector", async () => {
    await writeFile(join(world.directory, "bell.qasm"), BELL);
    const ran = await cli("quantum", "run", "bell.qasm", "--backend", "sim.statevector", "--shots", "1000");
    expect(ran).toMatchObject({ job: { status: "COMPLETED" } });
    const [counts = {}] = (ran as { counts: readonly Readonly<Record<string, number>>[] }).counts;
    expect(Object.keys(counts).toSorted()).toEqual(["00", "11"]);
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(1_000);
  });

  test("a backend is older than its clients, and has a price", INSTALLS, async () => {
    await deployVariant(world, OLDER);
    expect(await cli("backends", "show", "sim.older")).toMatchObject({ price: { per_job: "0.5" } });
  });

  /** Others than the newest Qiskit, at full length alone. */
  const others = [
    ["oldest", OLDEST],
    ["2.3 (PennyLane)", PENNYLANE],
    ["newest (Braket)", BRAKET],
  ] as const;
  const clients = [["newest"], ...(IS_FULL_LENGTH ? others : [])] as const;
  const tries = clients.flatMap(([qiskit, pins]) => acceptance.map((file) => ({ qiskit, pins, file })));
  test.for(tries)(
    "the SDK on a platform, with the $qiskit Qiskit: $file",
    async ({ pins, file }, { skip }) => {
      const client = await findPython(pins);
      const outcomes =
        "reason" in client ? [] : await runPytest(client.python, [`tests/acceptance/${file}`], environment);
      expect(outcomes.filter(isWrong)).toEqual([]);
      const reasons = outcomes.map(({ text }) => text);
      skip(
        outcomes.every(({ status }) => status === "skipped"),
        "reason" in client ? client.reason : reasons[0],
      );
    },
  );

  test(
    "the wheel installs into an empty environment, and the first lines of its page run",
    { ...INSTALLS, tags: "full" },
    async () => {
      const output = join(world.directory, "wheel");
      await runOk(["node", join(REPOSITORY, "tools/build-clients.ts"), "--output", output, "quantum"]);
      const [wheel = ""] = await readdir(join(output, "quantum"));
      const venv = join(world.directory, "venv");
      await runOk(["python3", "-m", "venv", venv]);
      const own = join(venv, "bin/python");
      const pins = join(SDK, "requirements-tests.txt");
      await runOk([
        own,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--only-binary",
        ":all:",
        "-c",
        pins,
        `${join(output, "quantum", wheel)}[qiskit]`,
      ]);
      const page = await readFile(join(SDK, "README.md"), "utf8");
      const [, lines = ""] = /```python\n([\s\S]*?get_backend[\s\S]*?)```/u.exec(page) ?? [];
      const printed = await runOk([own, "-I", "-c", lines], { cwd: world.directory, environment });
      expect(printed).toMatch(/^\{'(?:00|11)': \d+, '(?:00|11)': \d+\}\n$/u);
    },
  );

  test("the demo divides the graph of the example", async () => {
    const printed: string[] = [];
    vi.spyOn(stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
    const demo = openDemo();
    try {
      await demo("login", "-t", world.login.personalAccessToken);
      await runQuantum(demo, openDemo);
    } finally {
      vi.restoreAllMocks();
    }
    const text = printed.join("");
    expect(text).toMatch(/platform quantum run +COMPLETED, 1000 shots in \d+ ms\n/u);
    const [, best, average] =
      /the largest cut: (\d+) of 12 edges; ([\d.]+) on average, 6 by chance\n/u.exec(text) ?? [];
    expect(Number(best)).toBe(10);
    expect(Number(average)).toBeGreaterThan(8.5);
    const [, jobs] =
      /platform run +SUCCEEDED, a cut of 10 of 12 edges by (\d+) quantum jobs\n/u.exec(text) ?? [];
    // All of the run are of its session, which has ended with it.
    const { body } = await quantum(world, "GET", "/workloads");
    expect(body["content"]).toContainEqual(
      expect.objectContaining({ type: "SESSION", status: "CLOSED", job_count: Number(jobs) }),
    );
  });

  describe("what is written for other platforms of this kind", () => {
    beforeAll(async () => {
      for (const id of ["sim.statevector", "sim.braket"]) await cli("backends", "share", id);
      for (const [alias, id] of ALIASES) await cli("backends", "alias", alias, id);
    });

    test("a sample that needs no SDK is a service without a change", INSTALLS, async () => {
      const call = await deploySample(world, RANDOM_NUMBER);
      const { result } = await call({ data: { n_bits: 3 } });
      expect(result["random_number"]).toBeGreaterThanOrEqual(0);
      expect(result["random_number"]).toBeLessThan(8);
    });

    test("a coin toss is a service with the import and the class of ours", INSTALLS, async () => {
      const call = await deploySample(world, COIN_TOSS);
      const tossed = await call({ data: { coins: 2 }, params: { shots: 100 } });
      const { counts, job } = tossed.result;
      const drawn = Object.values(counts as Readonly<Record<string, number>>);
      expect(drawn.reduce((sum, count) => sum + count, 0)).toBe(100);
      for (const name of ["hello.txt", "hello.jpg"]) expect(JSON.stringify(tossed)).toContain(name);
      expect((await quantum(world, "GET", `/jobs/${String(job)}`)).body).toMatchObject({
        backend_id: "azure.ionq.simulator",
        sdk_provider: "platform-quantum",
      });
    });

    test("a program for annealers is a service with another import", INSTALLS, async () => {
      const call = await deploySample(world, ANNEALING);
      const found = await Promise.all(
        ["SimulatedAnnealingSampler", "sim.annealing"].map((sampler) =>
          call({ data: { variables: 5 }, params: { sampler } }),
        ),
      );
      const [here, there] = found.map(({ result }) => result["energy"]);
      expect(here).toBeLessThan(0);
      expect(there).toBe(here);
    });

    test.for(IS_FULL_LENGTH ? PUBLISHED : [])("$name", INSTALLS, async ({ run, expected }, { skip }) => {
      const answer = await run(world);
      skip("reason" in answer, "reason" in answer ? answer.reason : "");
      expect(answer).toEqual({ said: expected });
    });
  });

  describe("the guide", () => {
    beforeAll(() => prepareFolder(join(world.directory, "guide")));

    test.for(snippets)("$name runs", INSTALLS, async (snippet) => {
      const printed = await runSnippet(snippet, readOptions(snippet.language));
      // Each shows something; a file shows nothing by itself.
      expect(printed.trim() === "").toBe(!["sh", "python"].includes(snippet.language));
      for (const promised of listPromised(snippet)) expect(printed.split("\n")).toContain(promised);
    });

    test("all kinds of snippets are there, and one that says what it prints", () => {
      const kinds = new Set(snippets.map(({ language }) => language));
      expect([...kinds].toSorted()).toEqual(["backend", "json", "python", "qasm", "sh"]);
      expect(snippets.flatMap(listPromised)).not.toEqual([]);
    });
  });

  describe("hostile jobs", () => {
    const backend_id = "sim.hostile";
    let circuits: Circuits;
    let zygotes: readonly string[];
    /** What became of good jobs, which are sent one after the other all the time. */
    const beside: string[] = [];
    const over = new AbortController();
    let good: Promise<void>;

    /** The bundled simulator with less time: what does not end is to end within the test. */
    beforeAll(async () => {
      const resources = { cpu: 0.5, memory: 1 };
      const project = { name: "hostile", backend: { id: backend_id }, resources, timeoutSeconds: 20 };
      await deployVariant(world, { name: project.name, project });
      const printed = await runOk([python, join(REPOSITORY, "tests/quantum/make_circuits.py")]);
      const texts = JSON.parse(printed) as Readonly<Record<string, string>>;
      circuits = Object.fromEntries(
        Object.entries(texts).map(([name, text]) => [name, Buffer.from(text, "base64")]),
      ) as Circuits;
      await runGood();
      zygotes = await findZygotes(world.dataDirectory, project.name);
      good = keepRunning();
    }, INSTALLS.timeout);
    afterAll(async () => {
      over.abort();
      await good;
    });

    async function runGood(): Promise<string> {
      const input = { pubs: [{ circuit: BELL }], shape: "counts" };
      const { outcome, id, text } = await runJob(world, {
        backend_id,
        input_format: "OPEN_QASM_V3",
        shots: 100,
        input,
      });
      if (outcome !== "COMPLETED") return `${outcome} ${text}`;
      const { body } = await quantum(world, "GET", `/jobs/${id}/result`);
      const [pub] = body["pubs"] as readonly { readonly counts: Readonly<Record<string, number>> }[];
      return Object.keys(pub?.counts ?? {}).join(" ");
    }

    async function keepRunning(): Promise<void> {
      while (!over.signal.aborted) beside.push(await runGood());
    }

    test(
      "each is refused with a code, within its limits, and tells nothing of the host",
      { timeout: 15 * MINUTE },
      async () => {
        const wrong: string[] = [];
        await forEachOf(listHostileJobs(circuits), 2, async ({ name, body, refused }) => {
          const { outcome, text } = await runJob(world, { backend_id, ...body });
          if (!refused.includes(outcome)) wrong.push(`${name}: ${outcome} ${text.slice(0, 300)}`);
          if (/root:|PYTHON_TEMPLATE|gate_backend/u.test(text)) wrong.push(`${name}: ${text.slice(0, 300)}`);
        });
        expect(wrong).toEqual([]);
      },
    );

    test(
      `${MUTATIONS} broken circuits of seed ${SEED} are refused with a code that the backend has chosen, or run`,
      { timeout: 15 * MINUTE },
      async () => {
        const random = createRandom(SEED);
        const sources = [circuits.bell, circuits.gates, circuits.flow];
        const jobs = Array.from({ length: MUTATIONS }, (_, n) =>
          mutate(sources[n % sources.length] ?? circuits.bell, random),
        );
        const outcomes: Record<string, number> = {};
        const wrong: string[] = [];
        await forEachOf(jobs, 4, async (content) => {
          const circuit = deflateSync(content).toString("base64");
          const { outcome, text } = await runJob(world, {
            backend_id,
            input_format: "QISKIT_QPY",
            shots: 5,
            input: { pubs: [{ circuit }] },
          });
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
          if (!CHOSEN.has(outcome)) wrong.push(`${outcome} ${text.slice(0, 300)} ${circuit}`);
        });
        expect(wrong).toEqual([]);
        expect(outcomes["CIRCUIT_INVALID"]).toBeGreaterThan(MUTATIONS / 2);
      },
    );

    test("good jobs beside them were run all the time, by processes that have not ended", async () => {
      const count = beside.length;
      await expect.poll(() => beside.length).toBeGreaterThan(count);
      expect([...new Set(beside)].filter((outcome) => outcome !== "00 11" && outcome !== "11 00")).toEqual(
        [],
      );
      expect(beside.length).toBeGreaterThan(20);
      expect(zygotes).not.toEqual([]);
      // Of this backend alone: those of others are idle, and may have ended.
      expect(await findZygotes(world.dataDirectory, "hostile")).toEqual(zygotes);
      expect((await quantum(world, "GET", `/backends/${backend_id}`)).body).toMatchObject({
        status: "ONLINE",
      });
      expect(world.platform.readLog()).not.toMatch(/"output of a zygote"|"level":(?:50|60)/u);
    });
  });
});

async function listSimulators(): Promise<readonly string[]> {
  const names = await readdir(BACKENDS);
  const files = await Promise.all(
    names.map((name) => readFile(join(BACKENDS, name, "platform.json"), "utf8")),
  );
  return names.filter((name, index) => files[index]?.includes(`"id": "sim.${name}"`));
}

/** Ids that programs name, and what stands in for them. */
const ALIASES = [
  ["azure.ionq.simulator", "sim.statevector"],
  ["kipu.sim.qsim", "sim.statevector"],
  ["qudora.sim.xg1", "sim.statevector"],
  ["aws.sim.sv1", "sim.braket"],
  ["aws.sim.dm1", "sim.braket"],
] as const;

/** There is a platform: only packages may be missing. */
function isWrong({ status, text }: Outcome): boolean {
  return status === "failed" || text.includes("no platform");
}

/** What a broken circuit may end with: no exception that nobody caught, no limit that had to end it. */
const CHOSEN: ReadonlySet<string> = new Set([
  "COMPLETED",
  "CIRCUIT_INVALID",
  "CIRCUIT_TOO_LARGE",
  "CIRCUIT_FORMAT_UNSUPPORTED",
  "TOO_MANY_QUBITS",
  "GATE_UNSUPPORTED",
]);
