import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { getuid } from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { ECHO_PROGRAM, echoProject } from "../support/echo-backend.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

type Body = Readonly<Record<string, unknown>>;

/** Says which process has imported it. */
const PROGRAM = `import os\nZYGOTE = os.urandom(8).hex()\n${ECHO_PROGRAM.replace('{"data": data,', '{"zygote": ZYGOTE, "data": data,')}`;
const JOB = { backend_id: "sim.echo", input_format: "OPEN_QASM_V3", input: "OPENQASM 3.0;" };

let world: World;
let guest: string;

beforeAll(async () => {
  world = await createWorld();
  await world.deploy(
    await world.createProject("echo", PROGRAM, { "platform.json": echoProject("echo", "sim.echo") }),
  );
  guest = String((await world.api("POST", "/organizations", { name: "Guest" })).body["id"]);
});
afterAll(() => world?.close());

async function quantum(
  method: string,
  path: string,
  organisation: string | null,
  json?: unknown,
): Promise<Body> {
  const { body } = await request<Body>(method, `${world.platform.apiUrl}/quantum${path}`, {
    token: world.login.personalAccessToken,
    ...(json === undefined ? {} : { json }),
    headers: { prefer: "wait=60", ...(organisation === null ? {} : { "x-organizationid": organisation }) },
  });
  return body;
}

/** What became of a job that this organisation sends; null: the one whose backend it is. */
async function run(organisation: string | null, backend = "sim.echo"): Promise<Body> {
  const { id } = await quantum("POST", "/jobs", organisation, { ...JOB, backend_id: backend });
  expect(await quantum("GET", `/jobs/${String(id)}`, organisation)).toMatchObject({ status: "COMPLETED" });
  return await quantum("GET", `/jobs/${String(id)}/result`, organisation);
}

const isProject = (text: string) =>
  text.startsWith(world.dataDirectory) && existsSync(join(text, "src/program.py"));

/** Users of the processes that were started with a project of the platform as an argument: the sandboxes of what is warm. */
function listUsers(): ReadonlySet<number> {
  const users = readdirSync("/proc").flatMap((pid) => {
    try {
      const isLauncher =
        /^\d+$/u.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0").some(isProject);
      return isLauncher ? [statSync(`/proc/${pid}`).uid] : [];
    } catch {
      return []; // It has ended.
    }
  });
  return new Set(users.filter((uid) => uid !== 0));
}

test("two organisations on one shared backend are in processes and under users of their own", async () => {
  expect(await quantum("POST", "/jobs", guest, JOB)).toMatchObject({ code: "BACKEND_NOT_FOUND" });
  const shared = await world.cli(world.directory, "backends", "share", "sim.echo", "--json");
  expect([shared.code, shared.stderr]).toEqual([0, ""]);
  const [own, foreign] = [await run(null), await run(guest)];
  expect([own["zygote"], foreign["zygote"]]).toEqual([expect.any(String), expect.any(String)]);
  expect(own["zygote"]).not.toBe(foreign["zygote"]);
  expect((await run(guest))["zygote"]).toBe(foreign["zygote"]);
  // Who is no root has one user for all.
  expect(listUsers().size).toBe(getuid?.() === 0 ? 2 : 1);
});

test("a program that names the simulator of a vendor runs on the one that stands in for it", async () => {
  const aliased = await world.cli(world.directory, "backends", "alias", "qudora.sim.xg1", "sim.echo");
  expect(aliased.code).toBe(0);
  expect(await run(guest, "qudora.sim.xg1")).toMatchObject({ data: { format: "OPEN_QASM_V3" } });
  expect((await world.cli(world.directory, "backends", "unshare", "sim.echo")).code).toBe(0);
  expect(await quantum("GET", "/backends", guest)).toEqual([]);
});
