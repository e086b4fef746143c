import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { env, execPath } from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLI } from "../../tools/platform-process.ts";
import { ECHO_PROGRAM, echoProject } from "../support/echo-backend.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

/** An echo that has a price, knows how long a job would take, and is told by options what else it does. */
const PRICED_PROGRAM = ECHO_PROGRAM.replace(
  '"deterministic": True,',
  '"deterministic": True,\n        "dry_run": True,\n        "price": {"currency": "EUR", "perJob": 0.3, "perShot": "0.00035", "perSecond": 0.001},',
).replace(
  '    time.sleep(data.get("seconds", 0))',
  `    if params.get("dry_run"):
        return {"valid": True, "warnings": ["It is an echo."], "seconds": 2}
    if params.get("fails"):
        raise Refused()
    if params.get("counts"):
        return [{"counts": params["counts"]}]
    if params.get("many"):
        return [{"counts": {"0": 1}, "note": "x" * 40} for _ in range(params["many"])]
    time.sleep(params.get("sleeps", 0))`,
);

let world: World;
let circuit: string;

beforeAll(async () => {
  world = await createWorld({ flags: ["--worker-cpu", "0.5", "--backend-cpu", "0.5"] });
  const files = { "platform.json": echoProject("echo", "qpu.echo") };
  await world.deploy(await world.createProject("echo", PRICED_PROGRAM, files));
  circuit = join(world.directory, "bell.qasm");
  await writeFile(circuit, "OPENQASM 3.0; qubit[2] q; h q[0];");
});
afterAll(() => world?.close());

const run = async (...flags: string[]) =>
  await world.cli(
    world.directory,
    "quantum",
    "run",
    circuit,
    "--backend",
    "qpu.echo",
    "--shots",
    "100",
    ...flags,
  );

test("what a job would cost is said without running it, and what it has cost when it was run", async () => {
  const shown = await world.cli(world.directory, "backends", "show", "qpu.echo");
  expect(shown.stdout).toContain("Price     0.3 EUR a job, 0.00035 EUR a shot, 0.001 EUR a second");
  const dry = await run("--dry-run");
  expect([dry.code, dry.stdout]).toEqual([
    0,
    expect.stringMatching(
      /Valid +yes\nCost +0\.337 EUR, at most [\d.]+ EUR\nSeconds +2\nWaiting +0 jobs before it\nWarning +It is an echo\./u,
    ),
  ]);
  const none = await world.cli(world.directory, "quantum", "jobs", "--json");
  expect(none.stdout).toContain('"total_elements": 0');
  expect((await run("--max-cost", "0.34")).stderr).toContain("Nothing has run");
  expect((await run("--max-cost", "100")).code).toBe(0);
  const listed = await world.cli(world.directory, "quantum", "jobs");
  expect(listed.stdout).toMatch(/COMPLETED +100 +0\.3[3-9]\d+ EUR/u);
});

const budgets = (...words: string[]) => world.cli(world.directory, "budgets", ...words);

test("jobs are found by name and time", async () => {
  expect((await run("--name", "of yesterday")).code).toBe(0);
  const find = async (...words: string[]) =>
    (await world.cli(world.directory, "quantum", "jobs", "--name", "yesterday", ...words)).stdout;
  const now = "2026-01-01 00:00:00";
  expect(await find("--after", now)).toContain("of yesterday");
  expect(await find("--before", now)).toContain("No quantum jobs that match");
  expect(await find("--session", "0198c1de-7a53-7000-8000-000000000000")).toContain("No quantum jobs");
  const wrong = await world.cli(world.directory, "quantum", "jobs", "--after", "yesterday");
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("createdAfter")]);
});

test("a budget is set, holds a job back that may cost more than is left, and is removed", async () => {
  expect((await budgets()).stdout).toContain("No budgets");
  expect((await budgets("put", "EUR", "0.5")).stdout).toMatch(/EUR +\d{4}-\d\d +0\.5 +0 +0 +0\.5/u);
  expect((await run()).stderr).toMatch(/may cost up to .* EUR/u);
  expect(JSON.parse((await budgets("--json")).stdout)).toMatchObject([{ currency: "EUR", held: "0" }]);
  for (const [words, code, text] of [
    [["put", "eur", "1"], 2, "three capital letters"],
    [["put", "EUR", "1e400"], 2, "nine digits"],
    [["rm", "USD"], 1, "no budget in USD"],
  ] as const) {
    const refused = await budgets(...words);
    expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(text)]);
  }
  expect((await budgets("rm", "EUR")).code).toBe(0);
  expect((await budgets("rm", "EUR")).code).toBe(1);
});

test("a job that was run before is answered from it, and one of a session runs in it", async () => {
  const opened = await world.cli(world.directory, "quantum", "open", "--backend", "qpu.echo", "--ttl", "600");
  const session = opened.stdout.trim();
  const inSession = async () => {
    const { stdout } = await run("--seed", "3", "--cache", "--session", session, "--json");
    return (JSON.parse(stdout) as { readonly job: Readonly<Record<string, unknown>> }).job;
  };
  const first = await inSession();
  expect(first).toMatchObject({ status: "COMPLETED", cached_from: null, session_id: session });
  expect(await inSession()).toMatchObject({ status: "COMPLETED", cached_from: first["id"], cost: "0" });
  expect((await run("--seed", "4", "--cache", "--json")).stdout).toContain('"cached_from": null');
  const closed = await world.cli(world.directory, "quantum", "close", session);
  expect(closed.stdout).toContain("it had 2 jobs");
  expect((await run("--session", session)).stderr).toContain("closed");
});

const quantum = async (...words: string[]) => await world.cli(world.directory, "quantum", ...words);

test("numbers of the options reach the backend, and come back, with all of their digits", async () => {
  const params = '{"big": 12345678901234567890, "small": 0.10000000000000000001}';
  for (const words of [["--json"], []]) {
    const { code, stdout } = await run("--params", params, "--seed", "7", ...words);
    expect([code, stdout]).toEqual([0, expect.stringContaining('"big": 12345678901234567890')]);
    expect(stdout).toContain('"seed": 7');
  }
});

/** The id of a job that has run with these options. */
async function runFor(params: object): Promise<string> {
  const { stderr } = await run("--params", JSON.stringify(params));
  return /Job ([0-9a-f-]{36})/u.exec(stderr)?.[1] ?? "";
}

test("a result is had in one form, and what has none is said to", async () => {
  const id = await runFor({ counts: { "01": 60, "00": 40 } });
  const { code, stdout } = await quantum("result", id, "--normalized");
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    { circuits: [{ name: null, index: [], shots: 100, counts: { "00": 40, "01": 60 } }] },
  ]);
  expect((await quantum("show", id)).stdout).toMatch(/State +COMPLETED\n[\s\S]*Cost +0\.3\d+ EUR/u);
  const none = await quantum("result", await runFor({ echo: 1 }), "--normalized");
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("a form of its own")]);
});

test("a list that is kept outside of the database is the result as it is, and counted as a small one", async () => {
  const ran = await run("--params", '{"many": 20000}');
  const id = /Job ([0-9a-f-]{36})/u.exec(ran.stderr)?.[1] ?? "";
  for (const { code, stdout } of [ran, await quantum("result", id)])
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ length: 20_000 })]);
  const read = async (part: string) => {
    const url = `${world.platform.apiUrl.replace(/\/api$/u, "")}/quantum/jobs/${id}/${part}`;
    const headers = { authorization: `Bearer ${world.login.personalAccessToken}` };
    return await (await fetch(url, { headers })).json();
  };
  expect(await read("result")).toHaveLength(20_000);
  expect(await read("result/normalized")).toMatchObject({
    circuits: { length: 20_000, 19_999: { shots: 1, counts: { 0: 1 } } },
  });
});

test("a job that has failed says why, and where its log is, when it is run and when it is asked for", async () => {
  const failed = await run("--params", '{"fails": true}');
  const id = /Job ([0-9a-f-]{36})/u.exec(failed.stderr)?.[1] ?? "";
  const asked = await quantum("result", id);
  for (const { code, stdout, stderr } of [failed, asked]) {
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("error: FAILED: CIRCUIT_INVALID: The circuit has no end.");
    expect(stderr).toContain(`platform logs ${id}`);
  }
  expect((await quantum("show", id)).stdout).toContain(
    "State     FAILED: CIRCUIT_INVALID: The circuit has no end.",
  );
  expect((await world.cli(world.directory, "logs", id)).code).toBe(0);
  expect(await quantum("cancel", id)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("it was not cancelled. FAILED: CIRCUIT_INVALID") as unknown,
  });
});

test("Ctrl-C ends the waiting and not the job, which has no result yet, and is cancelled twice as once", async () => {
  const words = ["quantum", "run", circuit, "-b", "qpu.echo", "--shots", "1", "--params", '{"sleeps": 600}'];
  const waiting = spawn(execPath, [CLI, ...words], {
    env: {
      ...env,
      PLATFORM_CONFIG_DIR: join(world.directory, "cli"),
      PLATFORM_ENDPOINT: world.platform.apiUrl,
      PLATFORM_PERSONAL_ACCESS_TOKEN: world.login.personalAccessToken,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  waiting.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  const findId = () => /Job ([0-9a-f-]{36})/u.exec(stderr)?.[1] ?? "";
  await expect.poll(findId).not.toBe("");
  const id = findId();
  const ended = once(waiting, "close");
  waiting.kill("SIGINT");
  expect([await ended, stderr]).toEqual([
    [130, null],
    expect.stringContaining(`platform quantum cancel ${id}`),
  ]);
  const early = await quantum("result", id, "--json");
  expect([early.code, JSON.parse(early.stdout)]).toMatchObject([1, { error: { code: "RESULT_NOT_READY" } }]);
  const cancelled = { code: 0, stdout: "The job was cancelled.\n" };
  expect(await quantum("cancel", id)).toMatchObject(cancelled);
  expect(await quantum("cancel", id)).toMatchObject(cancelled);
  expect((await quantum("result", id)).stderr).toContain("error: CANCELLED: CANCELLED: ");
});

test("a start that is repeated with its key says so", async () => {
  const [first, again] = [
    await run("--idempotency-key", "one", "--detached"),
    await run("--idempotency-key", "one", "--detached"),
  ];
  expect(again.stdout).toBe(first.stdout);
  expect(again.stderr).toContain("no other was started");
});

test.each<readonly [string, readonly string[], number, string]>([
  ["a backend that there is not", ["run", "bell.qasm", "-b", "sim.none"], 1, "platform backends"],
  ["no backend", ["run", "bell.qasm"], 2, "Name the backend"],
  ["a file that there is not", ["run", "none.qasm", "-b", "qpu.echo"], 1, "none.qasm' does not exist"],
  ["a folder", ["run", ".", "-b", "qpu.echo"], 1, "is a folder"],
  ["options that are no JSON", ["run", "bell.qasm", "-b", "qpu.echo", "--params", "{a}"], 2, "is not JSON"],
  ["options in a list", ["run", "bell.qasm", "-b", "qpu.echo", "--params", "[]"], 2, "a JSON object"],
  ["an option that there is not", ["run", "bell.qasm", "-b", "qpu.echo", "--shot", "1"], 2, "--shots"],
  ["no shots", ["run", "bell.qasm", "-b", "qpu.echo", "--shots", "0"], 2, "from 1 to"],
  ["an amount that is none", ["run", "bell.qasm", "-b", "qpu.echo", "--max-cost", "much"], 1, "max_cost"],
  ["a seedless cache", ["run", "bell.qasm", "-b", "qpu.echo", "--cache"], 2, "--seed"],
  ["a session that there is not", ["run", "bell.qasm", "-b", "qpu.echo", "--session", "x"], 1, "session"],
  ["an id that is none", ["result", "x"], 1, "EXECUTION_NOT_FOUND"],
  ["an id of nothing", ["cancel", "0198c1de-7a53-7000-8000-000000000000"], 1, "EXECUTION_NOT_FOUND"],
  ["a session that is none", ["close", "x"], 1, "NOT_FOUND"],
])("%s is said to be wrong, without a trace", async (_what, words, code, text) => {
  const refused = await quantum(...words, "--json");
  expect([refused.code, refused.stdout + refused.stderr]).toEqual([code, expect.stringContaining(text)]);
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: { detail: expect.any(String) as unknown } });
  expect(refused.stdout + refused.stderr).not.toMatch(/INTERNAL_ERROR|\n +at /u);
});

test("lists that have nothing say so, and why", async () => {
  const wide = await world.cli(world.directory, "backends", "--qubits", "1000");
  expect([wide.code, wide.stdout]).toEqual([0, expect.stringContaining("No backend matches")]);
  expect((await quantum("jobs", "--tag", "none")).stdout).toContain("No quantum jobs");
});
