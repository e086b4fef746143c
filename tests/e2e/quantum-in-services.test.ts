import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { ECHO_PROGRAM, echoProject } from "../support/echo-backend.ts";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

type Body = Readonly<Record<string, unknown>>;

/** Uses the quantum API with nothing but what its process was given, and says what became of it. */
const ASKS = `
import json, os, time, urllib.error, urllib.request

def ask(method, path, body=None):
    headers = {"X-Auth-Token": os.environ["PLATFORM_SERVICE_EXECUTION_TOKEN"], "Prefer": "wait=20"}
    if body is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(body).encode()
    url = os.environ["PLATFORM_ENDPOINT"] + path
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method), timeout=60) as answer:
            return {"status": answer.status, "body": json.loads(answer.read() or b"null")}
    except urllib.error.HTTPError as error:
        return {"status": error.code, "body": json.loads(error.read())}

JOB = {"backend_id": "sim.echo", "input_format": "OPEN_QASM_V3", "input": {"n": 1}}

def run(data):
    if "start" in data:
        for more in data["start"]:
            print("started", ask("POST", "/quantum/jobs", {**JOB, **more})["body"]["id"], flush=True)
        time.sleep(data.get("seconds", 0))
        return {}
    started = ask("POST", "/quantum/jobs", JOB)["body"]
    job = started["id"]
    return {
        "token": os.environ["PLATFORM_SERVICE_EXECUTION_TOKEN"],
        "own": os.environ["SERVICE_EXECUTION_ID"] == started["service_execution_id"],
        "result": ask("GET", f"/quantum/jobs/{job}/result"),
        "state": ask("GET", f"/quantum/jobs/{job}")["body"]["status"],
        "listed": [one["id"] for one in ask("GET", "/quantum/jobs")["body"]["content"]] == [job],
        "hidden": ask("GET", f"/quantum/jobs/{data['other']}")["status"],
        "refused": [ask("GET", path)["status"] for path in ("/api/services", "/api/jobs", "/", "/quantum/../api/services")],
    }
`;

/** A backend that says whether its own run has a token. */
const NOSY = ECHO_PROGRAM.replace("import time", "import os, time").replace(
  'return {"data": data, "params": params}',
  'return {"names": sorted(name for name in os.environ if "TOKEN" in name or "ENDPOINT" in name or "BASE_URL" in name)}',
);

let world: World;
let consumer: Consumer;

beforeAll(async () => {
  world = await createWorld();
  await world.deploy(
    await world.createProject("echo", ECHO_PROGRAM, { "platform.json": echoProject("echo", "sim.echo") }),
  );
  await world.deploy(
    await world.createProject("nosy", NOSY, { "platform.json": echoProject("nosy", "sim.nosy") }),
  );
});
afterAll(() => world?.close());

const deployService = async (name: string, more: Body = {}) =>
  await world.deploy(
    await world.createProject(name, ASKS, {
      "platform.json": JSON.stringify({
        name,
        runtime: "PYTHON_TEMPLATE",
        resources: { cpu: 0.25, memory: 0.25 },
        ...more,
      }),
    }),
  );

const quantum = async (
  method: string,
  path: string,
  json?: unknown,
  token = world.login.personalAccessToken,
) =>
  await request<Body>(method, `${world.platform.apiUrl}/quantum${path}`, {
    token,
    ...(json === undefined ? {} : { json }),
    headers: { prefer: "wait=20" },
  });

async function resultOf(id: string): Promise<Body> {
  await consumer.finish(id, 60);
  return (await consumer.call<{ readonly result: Body }>("GET", `/${id}/result`)).body.result;
}

const JOB = { backend_id: "sim.echo", input_format: "OPEN_QASM_V3", input: { n: 1 } };

async function startService(json: Body): Promise<string> {
  const { status, body } = await consumer.start({ data: json });
  expect(status).toBe(201);
  return body.id;
}

test.each([
  ["a service", "asks", {}],
  ["a service without a network", "offline", { network: "none" }],
])(
  "%s uses a backend of its organisation without a key, sees its own jobs alone, and its token dies with the run",
  async (_what, name, more) => {
    consumer = await world.subscribe((await deployService(name, more)).serviceKey);
    const other = String((await quantum("POST", "/jobs", JOB)).body["id"]);
    const { token, ...said } = await resultOf(await startService({ other }));
    expect(said).toMatchObject({
      own: true,
      result: { status: 200, body: { data: { format: "OPEN_QASM_V3", n: 1 } } },
      state: "COMPLETED",
      listed: true,
      hidden: 404,
      refused: [404, 404, 404, 404],
    });
    // Its run has ended: within two seconds its token is worth nothing, wherever it is shown.
    await expect.poll(async () => (await quantum("GET", "/jobs", undefined, String(token))).status).toBe(401);
    const { status } = await request("GET", `${world.platform.apiUrl}/api/services`, {
      token: String(token),
    });
    expect(status).toBe(401);
  },
);

test("a run of a backend has no access", async () => {
  const { body } = await quantum("POST", "/jobs", { ...JOB, backend_id: "sim.nosy" });
  await quantum("GET", `/jobs/${String(body["id"])}`);
  expect((await quantum("GET", `/jobs/${String(body["id"])}/result`)).body).toEqual({ names: [] });
});

test("jobs of a run that is cancelled are cancelled, those that it has detached go on", async () => {
  const detached = { detached: true, input: { seconds: 20 } };
  const id = await startService({ start: [{ input: { seconds: 600 } }, detached], seconds: 600 });
  const list = async () =>
    (await quantum("GET", `/service-executions/${id}/workloads`)).body["content"] as readonly Body[];
  await expect.poll(async () => (await list()).length).toBe(2);
  await consumer.call("PUT", `/${id}/cancel`);
  await expect
    .poll(async () => new Set((await list()).map(({ status }) => status)))
    .toEqual(new Set(["CANCELLED", "COMPLETED"]));
});

test(
  "a platform that is killed after the start of a job has it, with its result, when it is there again",
  { tags: "full" },
  async () => {
    const own = await createWorld();
    let { platform } = own;
    const token = own.login.personalAccessToken;
    const ask = async (method: string, path: string, json?: unknown) =>
      await request<Body>(method, `${platform.apiUrl}/quantum${path}`, {
        token,
        headers: { prefer: "wait=20" },
        ...(json === undefined ? {} : { json }),
      });
    try {
      await own.deploy(
        await own.createProject("echo", ECHO_PROGRAM, { "platform.json": echoProject("echo", "sim.echo") }),
      );
      // None of the first ends before the kill, and of the last none has begun.
      const starts = Array.from(
        { length: 8 },
        async () =>
          await request<Body>("POST", `${platform.apiUrl}/quantum/jobs`, {
            token,
            json: { ...JOB, input: { seconds: 6 } },
          }),
      );
      const ids = (await Promise.all(starts)).map(({ body }) => String(body["id"]));
      // Some have begun by then, and will be lost.
      await expect
        .poll(async () => (await ask("GET", "/jobs?status=RUNNING")).body["total_elements"])
        .toBeGreaterThan(0);
      await platform.kill();
      platform = await own.start({ flags: ["--lease-seconds", "8"] });
      const ends = new Set<string>();
      for (const id of ids) {
        await expect
          .poll(async () => (await ask("GET", `/jobs/${id}`)).body["status"])
          .toMatch(/^(?:COMPLETED|FAILED)$/u);
        const { body } = await ask("GET", `/jobs/${id}`);
        const code = (body["error"] as { readonly code?: string } | null)?.code ?? "none";
        ends.add(`${String(body["status"])} ${code}`);
      }
      expect([...ends].toSorted()).toEqual(["COMPLETED none", "FAILED WORKER_LOST"]);
    } finally {
      await own.close();
    }
  },
);
