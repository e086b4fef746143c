/** An SDK that was published for other platforms of this kind, as it is: programs of ours use it as a black box, on their own and in a service. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { REPOSITORY } from "../../tools/platform-process.ts";
import { runOk } from "../clients/tools.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { findPython } from "./pytest.ts";

const MINUTE = 60_000;
/** Its 57 packages are downloaded and installed. */
const INSTALLS = { timeout: 15 * MINUTE };
/** Qiskit and numba are imported. */
const COLD_SECONDS = 600;
/** It asks at once, and then every five seconds. A machine that is busy may need them: of several runs, the shortest counts. */
const PATIENCE_MS = 5_000;
const HERE = join(REPOSITORY, "tests/quantum");
const REQUIREMENTS = join(HERE, "requirements-planqk.txt");
const found = await findPython(REQUIREMENTS);
const python = "python" in found ? found.python : "";
const missing = "reason" in found ? found.reason : null;

type Counts = Readonly<Record<string, number>>;
interface Tossed {
  readonly result: { readonly counts: Counts };
}

test.runIf(missing !== null)("planqk-quantum", ({ skip }) => {
  expect(missing).toContain("cannot be reached");
  skip(missing ?? "");
});

describe.skipIf(missing !== null)("planqk-quantum", () => {
  let world: World;

  beforeAll(async () => {
    world = await createWorld();
    const project = { backend: { id: "azure.ionq.simulator" }, resources: { cpu: 0.25, memory: 0.25 } };
    const backend = await readFile(join(HERE, "published/vendor_backend.py"), "utf8");
    await world.deploy(await createProject("vendor", backend, project));
  });
  afterAll(() => world?.close());

  async function createProject(name: string, program: string, more: object, requirements = "") {
    return await world.createProject(name, program, {
      "requirements.txt": requirements,
      "platform.json": JSON.stringify({ name, runtime: "PYTHON_TEMPLATE", ...more }),
    });
  }

  test("runs, finds its jobs again, says who is refused, and does not sleep for five seconds", async () => {
    const environment = {
      HOME: world.directory,
      PLANQK_QUANTUM_BASE_URL: `${world.platform.apiUrl}/quantum`,
      PLANQK_PERSONAL_ACCESS_TOKEN: world.login.personalAccessToken,
    };
    const stdout = await runOk([python, join(HERE, "published/planqk_jobs.py")], { environment });
    const { bell, seconds, ...said } = JSON.parse(stdout) as {
      readonly bell: Counts;
      readonly seconds: number;
    };
    expect(new Set(Object.keys(bell))).toEqual(new Set(["00", "11"]));
    expect(sum(bell)).toBe(1_000);
    expect(said).toEqual({
      ids: true,
      // The first qubit is the last digit.
      turned: { "001": 50 },
      status: "DONE",
      again: true,
      shots: [1, true],
      refusal: "InvalidAccessTokenError",
    });
    expect(seconds * 1_000).toBeLessThan(PATIENCE_MS);
  });

  test("a coin toss that is written for it is a service without a change", INSTALLS, async () => {
    const program = await readFile(join(HERE, "published/coin_toss.py"), "utf8");
    const needs = { resources: { cpu: 0.5, memory: 1 } };
    const requirements = await readFile(REQUIREMENTS, "utf8");
    const { serviceKey } = await world.deploy(await createProject("toss", program, needs, requirements));
    const consumer = await world.subscribe(serviceKey);
    const toss = async () => {
      const { body } = await consumer.start({ data: { coins: 2 }, params: { shots: 100 } });
      expect(await consumer.finish(body.id, COLD_SECONDS)).toMatchObject({ status: "SUCCEEDED" });
      return (await consumer.call<Tossed>("GET", `/${body.id}/result`)).body;
    };
    let answer = await toss();
    const times: number[] = [];
    for (let run = 0; run < 3; run += 1) {
      const since = performance.now();
      answer = await toss();
      times.push(performance.now() - since);
    }
    expect(Math.min(...times)).toBeLessThan(PATIENCE_MS);
    expect(sum(answer.result.counts)).toBe(100);
    for (const name of ["hello.txt", "hello.jpg"]) expect(JSON.stringify(answer)).toContain(name);
  });
});

function sum(counts: Counts): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}
