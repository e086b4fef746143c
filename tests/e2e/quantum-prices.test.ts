import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ECHO_PROGRAM, echoProject } from "../support/echo-backend.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

/** An echo that has a price, and knows how long a job would take. */
const PRICED_PROGRAM = ECHO_PROGRAM.replace(
  '"deterministic": True,',
  '"deterministic": True,\n        "price": {"currency": "EUR", "perJob": 0.3, "perShot": "0.00035", "perSecond": 0.001},',
).replace(
  '    time.sleep(data.get("seconds", 0))',
  `    if params.get("dry_run"):
        return {"valid": True, "warnings": ["It is an echo."], "seconds": 2}
    time.sleep(data.get("seconds", 0))`,
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
  expect(listed.stdout).toMatch(/COMPLETED +100 +0\.33\d+ EUR/u);
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
