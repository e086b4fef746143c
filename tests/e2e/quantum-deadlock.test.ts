/** Services that hold all that their worker has for services, while each waits for a quantum job. */
import { expect, onTestFinished, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { ECHO_PROGRAM, echoProject } from "../support/echo-backend.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

type Body = Readonly<Record<string, unknown>>;

const SERVICES = 8;
/** With 2 vCPUs four of them run at one time. */
const RESOURCES = { cpu: 0.5, memory: 0.25 };
const WORKER = ["--worker-cpu", "2"] as const;

/** Starts a quantum job with the access that its run was given, and ends when the job has. */
const WAITS = `
import json, os, urllib.request

def ask(path, body=None):
    headers = {"X-Auth-Token": os.environ["PLATFORM_SERVICE_EXECUTION_TOKEN"], "Content-Type": "application/json", "Prefer": "wait=20"}
    call = urllib.request.Request(os.environ["PLATFORM_ENDPOINT"] + "/quantum" + path, body and json.dumps(body).encode(), headers)
    return json.loads(urllib.request.urlopen(call, timeout=60).read())

def run(data: dict):
    job = ask("/jobs", {"backend_id": "sim.echo", "input_format": "OPEN_QASM_V3", "input": {"seconds": 0.5}})
    while job["status"] in ("PENDING", "RUNNING"):
        job = ask("/jobs/" + job["id"])
    return {"state": job["status"]}
`;

/** A platform with the echo as a backend, whose services have started all at once. */
async function startServices(...flags: readonly string[]) {
  const world = await createWorld({ flags: [...WORKER, ...flags] });
  onTestFinished(() => world.close());
  await world.deploy(
    await world.createProject("echo", ECHO_PROGRAM, { "platform.json": echoProject("echo", "sim.echo") }),
  );
  const project = { name: "waits", runtime: "PYTHON_TEMPLATE", resources: RESOURCES };
  const files = { "platform.json": JSON.stringify(project) };
  const { serviceKey } = await world.deploy(await world.createProject("waits", WAITS, files));
  const starts = Array.from({ length: SERVICES }, () =>
    world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, { data: {} }),
  );
  return { world, ids: (await Promise.all(starts)).map(({ body }) => body.id) };
}

async function readStates(world: World, ids: readonly string[]): Promise<readonly string[]> {
  const answers = await Promise.all(ids.map((id) => world.api("GET", `/jobs/${id}`)));
  return answers.map(({ body }) => String(body["status"])).toSorted((one, other) => one.localeCompare(other));
}

async function expectAllEnd(world: World, ids: readonly string[]): Promise<void> {
  await expect.poll(() => readStates(world, ids)).toEqual(ids.map(() => "SUCCEEDED"));
  const results = await Promise.all(ids.map((id) => world.api("GET", `/jobs/${id}/result`)));
  expect(results.map(({ body }) => body["result"])).toEqual(ids.map(() => ({ state: "COMPLETED" })));
}

const listJobs = async ({ platform, login }: World): Promise<readonly string[]> => {
  const { body } = await request<{ content: readonly Body[] }>("GET", `${platform.apiUrl}/quantum/jobs`, {
    token: login.personalAccessToken,
  });
  return body.content.map(({ status }) => String(status));
};

test("services that each wait for a quantum job all end, although they hold all that is there for services", async () => {
  const { world, ids } = await startServices("--backend-cpu", "0.25");
  expect(new Set(ids).size).toBe(SERVICES);
  await expectAllEnd(world, ids);
});

test(
  "without capacity for backends they wait for each other, until a worker comes that has some",
  { tags: "full" },
  async () => {
    const { world, ids } = await startServices("--backend-cpu", "0");
    const held = ["PENDING", "PENDING", "PENDING", "PENDING", "RUNNING", "RUNNING", "RUNNING", "RUNNING"];
    await expect.poll(() => listJobs(world)).toEqual(["PENDING", "PENDING", "PENDING", "PENDING"]);
    // As long as all eight took in the other test, and no state has changed.
    const { platform, login } = world;
    const token = login.personalAccessToken;
    await request("GET", `${platform.apiUrl}/api/jobs/${ids[0]}`, { token, headers: { prefer: "wait=5" } });
    expect(await readStates(world, ids)).toEqual(held);
    // Too small for any of the services.
    await world.start({ role: "worker", flags: ["--worker-cpu", "0.25", "--backend-cpu", "0.25"] });
    await expectAllEnd(world, ids);
  },
);
