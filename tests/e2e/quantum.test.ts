import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import type { Answer } from "../../tools/platform-client.ts";
import { ECHO_PROGRAM, echoProject } from "../support/echo-backend.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

type Body = Readonly<Record<string, unknown>>;

const SLEEPS =
  "import time\ndef run(data: dict):\n    print('begun', flush=True)\n    time.sleep(data['seconds'])\n    return {}\n";
const CIRCUIT = "OPENQASM 3.0; qubit[2] q; h q[0];";
const JOB = { backend_id: "sim.echo", input_format: "OPEN_QASM_V3", input: CIRCUIT };

let world: World;
let sleeper: string;

beforeAll(async () => {
  world = await createWorld({ flags: ["--worker-cpu", "0.5", "--backend-cpu", "0.5"] });
  const project = await world.createProject("echo", ECHO_PROGRAM, {
    "platform.json": echoProject("echo", "sim.echo"),
  });
  await world.deploy(project);
  sleeper = (await world.deploy(await world.createProject("sleeper", SLEEPS))).serviceKey;
});
afterAll(() => world?.close());

async function quantum(
  method: string,
  path: string,
  options: {
    readonly json?: unknown;
    readonly text?: string;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<Answer<Body>> {
  const { json, text, headers = {} } = options;
  return await request<Body>(method, `${world.platform.apiUrl}/quantum${path}`, {
    token: world.login.personalAccessToken,
    ...(json === undefined ? {} : { json }),
    ...(text === undefined ? {} : { body: text }),
    headers: { ...headers, ...(text === undefined ? {} : { "content-type": "application/json" }) },
  });
}

const start = async (more: Body = {}): Promise<string> => {
  const { status, body } = await quantum("POST", "/jobs", { json: { ...JOB, ...more } });
  expect([status, body]).toEqual([201, expect.objectContaining({ backend_id: "sim.echo" })]);
  return String(body["id"]);
};
const end = async (id: string): Promise<Body> =>
  (await quantum("GET", `/jobs/${id}`, { headers: { prefer: "wait=60" } })).body;

test("a version with a backend is one, which says what jobs may ask of it", async () => {
  await expect
    .poll(async () => (await quantum("GET", "/backends/sim.echo/status")).body["status"])
    .toBe("ONLINE");
  const { body: list } = await quantum("GET", "/backends");
  expect(list).toMatchObject([
    {
      id: "sim.echo",
      type: "SIMULATOR",
      status: "ONLINE",
      backend_version: "1.0.0",
      configuration: { qubit_count: 5, shots_range: { max: 1000 } },
    },
  ]);
  expect((await quantum("GET", "/backends/least-busy?minQubits=5")).body).toMatchObject({ id: "sim.echo" });
  expect(await quantum("GET", "/backends/least-busy?minQubits=6")).toMatchObject({
    status: 404,
    body: { code: "BACKEND_NOT_FOUND", error: expect.any(String) as unknown },
  });
});

test("a job is answered with what its backend returns, and no digit on the way is changed", async () => {
  const params = '{"seed":12345678901234567890}';
  const text = `{"backend_id":"sim.echo","shots":7,"input_format":"OPEN_QASM_V2","input":{"n": 0.10000000000000000001},"input_params":${params},"tags":["a"]}`;
  const { body, headers } = await quantum("POST", "/jobs", { text });
  expect(headers.get("location")).toBe(`/quantum/jobs/${String(body["id"])}`);
  expect(await end(String(body["id"]))).toMatchObject({
    status: "COMPLETED",
    shots: 7,
    tags: ["a"],
    error: null,
  });
  const read = async (part: string) =>
    await (
      await fetch(`${world.platform.apiUrl}/quantum/jobs/${String(body["id"])}/${part}`, {
        headers: { "x-auth-token": world.login.personalAccessToken },
      })
    ).text();
  expect(await read("input")).toBe('{"n": 0.10000000000000000001}');
  expect(JSON.parse(await read("result"))).toMatchObject({
    data: { format: "OPEN_QASM_V2" },
    params: { shots: 7 },
  });
  expect(await read("result")).toContain("12345678901234567890");
});

test.each<readonly [string, Body, number, string]>([
  ["another backend", { backend_id: "sim.other" }, 404, "no backend sim.other"],
  [
    "a format that it does not read",
    { input_format: "QISKIT_QPY" },
    400,
    "it reads OPEN_QASM_V2, OPEN_QASM_V3",
  ],
  ["too many shots", { shots: 1001 }, 400, "must be from 1 to 1000"],
  ["too many circuits", { input: { pubs: [1, 2, 3] } }, 400, "has 3 circuits"],
  ["no circuit", { input: { pubs: [] } }, 400, "must have one circuit"],
  ["a property that there is not", { shotz: 5 }, 400, "shotz"],
  ["too many tags", { tags: Array.from({ length: 21 }, () => "a") }, 400, "tags"],
  ["an input that is too large", { input: "x".repeat(1_100_000) }, 413, "accepted"],
])("a job is refused for %s, in words", async (_what, more, status, detail) => {
  const answer = await quantum("POST", "/jobs", { json: { ...JOB, ...more } });
  expect(answer).toMatchObject({ status, body: { code: expect.any(String) as unknown } });
  expect(answer.body["detail"]).toContain(detail);
  expect(answer.body["error"]).toBe(answer.body["detail"]);
});

test("a job that its backend refuses has failed with the code of the backend, as its result says too", async () => {
  const id = await start({ input: { fails: true } });
  const error = { code: "CIRCUIT_INVALID", detail: "The circuit has no end." };
  expect(await end(id)).toMatchObject({ status: "FAILED", error });
  expect((await quantum("GET", `/jobs/${id}/result`)).body).toEqual(error);
});

test("a job that was sent twenty times with one key is one job", async () => {
  const send = async () =>
    await quantum("POST", "/jobs", { json: JOB, headers: { "idempotency-key": "bell" } });
  const answers = await Promise.all(Array.from({ length: 20 }, send));
  expect(new Set(answers.map(({ status, body }) => `${status} ${String(body["id"])}`)).size).toBe(1);
  expect(
    await quantum("POST", "/jobs", { json: { ...JOB, shots: 3 }, headers: { "idempotency-key": "bell" } }),
  ).toMatchObject({
    status: 409,
  });
});

test("a job that is cancelled ends, and is listed as such", async () => {
  const id = await start({ input: { seconds: 600 }, tags: ["long"] });
  await expect.poll(async () => (await quantum("GET", `/jobs/${id}/status`)).body["status"]).toBe("RUNNING");
  expect((await quantum("GET", `/jobs/${id}/result`)).body).toMatchObject({ code: "RESULT_NOT_READY" });
  expect((await quantum("DELETE", `/jobs/${id}`)).status).toBe(204);
  expect(await end(id)).toMatchObject({ status: "CANCELLED", error: { code: "CANCELLED" } });
  expect((await quantum("DELETE", `/jobs/${id}`)).status).toBe(204);
  const list = async (query: string) => (await quantum("GET", `/jobs?${query}`)).body;
  expect(await list("status=CANCELLED&tag=long")).toMatchObject({
    content: [{ id }],
    total_elements: 1,
    last: true,
  });
  expect(await list("status=FAILED&tag=long")).toMatchObject({ content: [], total_elements: 0, last: true });
  const first = await list("size=2");
  expect(first).toMatchObject({ page: 0, size: 2, last: false });
  const second = await list("size=2&page=1");
  const ids = [first, second].flatMap(({ content }) => (content as readonly Body[]).map((job) => job["id"]));
  expect(new Set(ids).size).toBe(4);
  expect(await quantum("GET", "/jobs?status=DONE")).toMatchObject({ status: 400 });
});

test("jobs run while services have taken all that their worker has for them", async () => {
  const services = await Promise.all(
    Array.from(
      { length: 4 },
      async () =>
        (await world.api("POST", `/jobs?serviceKey=${sleeper}`, { data: { seconds: 600 } })).body["id"],
    ),
  );
  const states = async () =>
    (
      await Promise.all(
        services.map(async (id) => String((await world.api("GET", `/jobs/${String(id)}`)).body["status"])),
      )
    ).toSorted((a, b) => a.localeCompare(b));
  await expect.poll(states).toEqual(["PENDING", "PENDING", "RUNNING", "RUNNING"]);
  const jobs = await Promise.all(Array.from({ length: 8 }, async () => await start()));
  for (const id of jobs) expect(await end(id)).toMatchObject({ status: "COMPLETED" });
  expect(await states()).toEqual(["PENDING", "PENDING", "RUNNING", "RUNNING"]);
  for (const id of services) await world.api("PUT", `/jobs/${String(id)}/cancel`);
});

test("an execution of the service that is no quantum job, and one of another service, are none here", async () => {
  const { body } = await world.api("POST", `/jobs?serviceKey=${sleeper}`, { data: { seconds: 0 } });
  for (const part of ["", "/status", "/result", "/input"])
    expect(await quantum("GET", `/jobs/${String(body["id"])}${part}`)).toMatchObject({
      status: 404,
      body: { code: "EXECUTION_NOT_FOUND" },
    });
  expect((await quantum("DELETE", `/jobs/${String(body["id"])}`)).status).toBe(404);
});

test("a job waits where no worker runs backends, outlives the platform, and has failed when its worker is lost", async () => {
  const own = await createWorld({ flags: ["--backend-cpu", "0"] });
  const token = own.login.personalAccessToken;
  let { platform } = own;
  const ask = async (path: string, json?: unknown): Promise<Body> => {
    const call =
      json === undefined
        ? { headers: { prefer: path.endsWith("/status") ? "wait=1" : "wait=20" } }
        : { json };
    const url = `${platform.apiUrl}/quantum${path}`;
    return (await request<Body>(json === undefined ? "GET" : "POST", url, { token, ...call })).body;
  };
  const restart = async () => {
    await platform.kill();
    platform = await own.start({ flags: ["--backend-cpu", "0.25", "--lease-seconds", "8"] });
  };
  try {
    const project = await own.createProject("echo", ECHO_PROGRAM, {
      "platform.json": echoProject("echo", "sim.echo"),
    });
    await own.deploy(project);
    const { id: waits } = await ask("/jobs", JOB);
    expect(await ask("/backends/sim.echo/status")).toEqual({
      status: "PAUSED",
      queue_size: 1,
      queue_avg_time: 0,
    });
    // What it waits for is read in the background.
    await expect
      .poll(async () => (await own.api("GET", `/jobs/${String(waits)}`)).body)
      .toMatchObject({
        status: "PENDING",
        waiting: { reason: "NO_WORKER" },
      });
    await restart();
    await expect
      .poll(() => ask(`/jobs/${String(waits)}`))
      .toMatchObject({ status: "COMPLETED", error: null });
    const { id: runs } = await ask("/jobs", { ...JOB, input: { seconds: 600 } });
    await expect.poll(async () => (await ask(`/jobs/${String(runs)}/status`))["status"]).toBe("RUNNING");
    await restart();
    await expect
      .poll(async () => await ask(`/jobs/${String(runs)}`))
      .toMatchObject({
        status: "FAILED",
        error: { code: "WORKER_LOST" },
      });
  } finally {
    await own.close();
  }
});
