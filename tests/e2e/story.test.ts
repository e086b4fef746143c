import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import type { Answer } from "../../tools/platform-client.ts";
import { STORY_PROGRAM } from "../support/story-program.ts";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

let world: World;
let consumer: Consumer;
let project: string;
let serviceKey: string;

beforeAll(async () => {
  world = await createWorld({ flags: ["--worker-cpu", "4", "--worker-memory", "8", "--max-result", "0.02"] });
  project = await world.createProject("story", STORY_PROGRAM, {
    "platform.json": JSON.stringify({
      name: "story",
      runtime: "PYTHON_TEMPLATE",
      resources: { cpu: 0.25, memory: 0.25 },
      timeoutSeconds: 10,
    }),
    "input/data.json": '{"numbers": [1, 2, 3]}',
    "input/params.json": '{"factor": 10}',
  });
  ({ serviceKey } = await world.deploy(project));
  consumer = await world.subscribe(serviceKey);
});

afterAll(() => world.close());

async function runAct(
  act: string,
  by = consumer,
): Promise<{
  readonly status: string;
  readonly code?: string;
  readonly detail?: string;
  readonly id: string;
}> {
  const { body } = await by.start({ data: { act } });
  const { status } = await by.finish(body.id);
  const result = await by.call<{ code?: string; detail?: string }>("GET", `${body.id}/result`);
  expect(result.status).toBe(200);
  return { id: body.id, status, ...result.body };
}

function send(body: string, headers: Record<string, string> = {}) {
  return request("POST", consumer.endpoint, {
    token: consumer.token,
    body,
    headers: { "content-type": "application/json", ...headers },
  });
}

/** The messages of a log, following the pages as far as they go. */
async function readWholeLog(id: string, by = consumer): Promise<readonly string[]> {
  const lines: string[] = [];
  let path: string | undefined = `${id}/log`;
  while (path !== undefined) {
    const page: Answer<{ message: string }[]> = await by.call("GET", path);
    expect(page.status).toBe(200);
    for (const line of page.body) lines.push(line.message);
    const next = /<([^>]+)>; *rel="next"/.exec(page.headers.get("link") ?? "")?.[1];
    path = next === undefined ? undefined : `${id}/log${new URL(next, consumer.endpoint).search}`;
  }
  return lines;
}

/** Sends the head of a start and a chunk of so many bytes, never the end; resolves with all that is answered until the close. */
async function startWithoutEnd(lengthHeader: string, bytes: number): Promise<string> {
  const { hostname, port, pathname } = new URL(consumer.endpoint);
  const socket = connect(Number(port), hostname);
  // What is sent after the server has closed is refused by the system.
  socket.on("error", () => undefined);
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `host: ${hostname}:${port}`,
    `authorization: Bearer ${consumer.token}`,
    "content-type: application/json",
    lengthHeader,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  if (bytes > 0) {
    const body = `{"data":{"a":"${"x".repeat(bytes)}`;
    socket.write(`${body.length.toString(16)}\r\n${body}\r\n`);
  }
  let answer = "";
  await new Promise<void>((resolve) => {
    socket.setEncoding("utf8").on("data", (text: string) => {
      answer += text;
      if (answer.endsWith("}")) resolve();
    });
    socket.once("close", () => resolve());
  });
  socket.destroy();
  return answer;
}

describe("the main job", () => {
  test("POST starts, GET polls, GET fetches the result and the log", async () => {
    const started = await consumer.start({ data: { numbers: [1, 2] }, params: { factor: 21 } });
    expect(started.status).toBe(201);
    expect(started.headers.get("location")).toBe(new URL(`${consumer.endpoint}${started.body.id}`).pathname);
    expect((await consumer.finish(started.body.id)).status).toBe("SUCCEEDED");
    const result = await consumer.call("GET", `${started.body.id}/result`);
    expect(result.body).toMatchObject({ result: { product: [21, 42] } });
    const log = await consumer.call("GET", `${started.body.id}/log`);
    // Of two streams, which one is read first is not said.
    const lines = [/"INFO","message":"multiplying"/u, /"WARNING","message":"[^"]*by 21/u];
    for (const line of lines) expect(JSON.stringify(log.body)).toMatch(line);
  });

  test("a waiting start answers with the final state", async () => {
    const started = await consumer.call("POST", "", { json: { data: {} }, headers: { prefer: "wait=30" } });
    expect(started.body).toMatchObject({ status: "SUCCEEDED", terminal: true });
  });

  test("the endpoint works without its final slash and with repeated ones, and tells other methods which are possible", async () => {
    const bare = consumer.endpoint.replace(/\/$/, "");
    for (const url of [bare, `${bare}//`]) {
      expect((await request("POST", url, { token: consumer.token, json: {} })).status).toBe(201);
    }
    const other = await request("DELETE", bare, { token: consumer.token });
    expect([other.status, other.headers.get("allow")]).toEqual([405, "POST, GET"]);
  });

  test("cancel ends a running execution with code CANCELLED", async () => {
    const { body } = await consumer.start({ data: { act: "sleep" } });
    await expect.poll(async () => (await consumer.call("GET", body.id)).body["status"]).toBe("RUNNING");
    await consumer.call("PUT", `${body.id}/cancel`);
    expect((await consumer.finish(body.id)).status).toBe("FAILED");
    expect((await consumer.call("GET", `${body.id}/result`)).body).toMatchObject({ code: "CANCELLED" });
  });

  test("the service's documents are served offline with the declared types", async () => {
    const openApi = await request<{ paths: Record<string, unknown> }>(
      "GET",
      `${consumer.endpoint}openapi.json`,
      { token: consumer.token },
    );
    expect(JSON.stringify(openApi.body)).toContain("factor");
    const docs = await request<string>("GET", `${consumer.endpoint}docs`, {
      token: consumer.token,
      headers: { accept: "text/html" },
    });
    expect([docs.status, docs.body]).toEqual([200, expect.stringContaining("swagger-ui")]);
  });
});

describe("user code that does what it should not", () => {
  test.each([
    ["raise", "EXECUTION_ERROR", "ValueError: no such thing"],
    ["exit", "EXECUTION_ERROR", "SystemExit: 3"],
    ["die", "EXECUTION_ERROR", "ended with exit code 1 before run returned."],
    ["crash", "EXECUTION_ERROR", "ended by SIGSEGV"],
    ["nan", "INVALID_RESULT", "the number nan at /value"],
    ["set", "INVALID_RESULT", "type set at /value"],
    ["circular", "INVALID_RESULT", "circular reference at /value/0"],
    ["large", "RESULT_TOO_LARGE", "50000012 bytes"],
    ["memory", "OUT_OF_MEMORY", "limit of 0.25 GB"],
    ["host", "CONNECTION_ERROR", "connect to backend.invalid"],
    ["sleep", "TIMEOUT", "time limit of 10 s"],
    ["flood", "TIMEOUT", "time limit of 10 s"],
  ])("%s ends the execution alone, as %s", async (act, code, detail) => {
    expect(await runAct(act)).toMatchObject({
      status: "FAILED",
      code,
      detail: expect.stringContaining(detail),
    });
    expect((await runAct("multiply")).status).toBe("SUCCEEDED");
  });

  test("a fork bomb hits only its own execution", async () => {
    const bomb = runAct("bomb");
    expect((await runAct("multiply")).status).toBe("SUCCEEDED");
    expect((await bomb).status).toBe("FAILED");
    expect((await runAct("multiply")).status).toBe("SUCCEEDED");
  });

  test("100,000 log lines are all kept, in order", async () => {
    // Read at a pace they take seconds, on a busy machine more than the story's time limit.
    const { serviceKey: key } = await world.deploy(await world.createProject("lines", STORY_PROGRAM));
    const patient = await world.subscribe(key);
    const run = await runAct("lines", patient);
    expect(run).toMatchObject({ status: "SUCCEEDED" });
    const lines = await readWholeLog(run.id, patient);
    expect(lines).toHaveLength(100_000);
    expect(lines.findIndex((line, number) => line !== `line ${number}`)).toBe(-1);
  });
});

describe("bad requests", () => {
  test.each([
    ["not JSON", "{", 400, "INVALID_JSON"],
    ["an array", "[]", 400, "INVALID_INPUT"],
    ["a string", '"x"', 400, "INVALID_INPUT"],
    ["an unknown key", '{"shots": 1}', 400, "INVALID_INPUT"],
    ["both of a pair", '{"data": {}, "dataRef": {}}', 400, "INVALID_INPUT"],
    ["100,000 levels", `{"data":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`, 400, "INVALID_INPUT"],
    ["a __proto__ key", '{"__proto__": {}}', 400, "INVALID_INPUT"],
    ["what does not fit the hints", '{"params": {"factor": "two"}}', 400, "INVALID_INPUT"],
    ["data of 1 MB and 1 byte", `{"data":{"a":"${"x".repeat(1_048_577 - 8)}"}}`, 413, "INPUT_TOO_LARGE"],
    [
      "a reference to an unknown pool",
      JSON.stringify({
        dataRef: {
          dataPoolId: crypto.randomUUID(),
          dataSourceDescriptorId: crypto.randomUUID(),
          fileId: crypto.randomUUID(),
        },
      }),
      422,
      "DATA_REFERENCE_INVALID",
    ],
  ])("%s is refused with code and detail", async (_, body, status, code) => {
    const answer = await send(body);
    expect([answer.status, answer.body]).toMatchObject([
      status,
      { code, detail: expect.stringMatching(/\S/) },
    ]);
  });

  test("a body of 100 MB is refused without being read to its end", async () => {
    // The end never comes: a server that wanted to read it would neither answer nor close.
    const refused = /^HTTP\/1.1 413 .*INPUT_TOO_LARGE/s;
    expect(await startWithoutEnd("content-length: 100000000", 0)).toMatch(refused);
    const answer = await startWithoutEnd("transfer-encoding: chunked", 5_000_000);
    // What lies unread when the server closes makes the system reset the connection, and the answer may be lost with it.
    expect(answer === "" || refused.test(answer)).toBe(true);
    expect((await consumer.start({})).status).toBe(201);
  });

  test("a wrong content type is 415", async () => {
    expect(await send("{}", { "content-type": "text/plain" })).toMatchObject({
      status: 415,
      body: { code: "UNSUPPORTED_MEDIA_TYPE" },
    });
  });

  test.each(["not-an-id", crypto.randomUUID()])("the id %s is unknown", async (id) => {
    for (const path of [id, `${id}/result`, `${id}/log`]) {
      expect(await consumer.call("GET", path)).toMatchObject({
        status: 404,
        body: { code: "EXECUTION_NOT_FOUND" },
      });
    }
  });

  test("an id from before the retention has expired as a whole", async () => {
    const old = "01890a5d-ac96-774b-bcce-b302099a8057";
    for (const path of [old, `${old}/result`, `${old}/log`]) {
      expect(await consumer.call("GET", path)).toMatchObject({
        status: 410,
        body: { code: "RESULT_EXPIRED" },
      });
    }
  });

  test("a missing token, nonsense, and a personal access token are told apart", async () => {
    const missing = await request("GET", consumer.endpoint);
    expect([missing.status, missing.headers.get("www-authenticate")]).toEqual([
      401,
      expect.stringContaining("Bearer"),
    ]);
    expect(await request("GET", consumer.endpoint, { token: "nonsense" })).toMatchObject({
      status: 401,
      body: { code: "UNAUTHENTICATED" },
    });
    const personal = await request("GET", consumer.endpoint, { token: world.login.personalAccessToken });
    expect([personal.status, personal.body]).toMatchObject([
      401,
      { detail: expect.stringMatching(/personal access token/i) },
    ]);
  });

  test("an unknown service or version is not found, and a service without subscription is refused", async () => {
    const { origin } = new URL(consumer.endpoint);
    const call = (path: string) => request("POST", `${origin}${path}`, { token: consumer.token, json: {} });
    expect(await call(`/${crypto.randomUUID()}/story/1.0.0/`)).toMatchObject({
      status: 404,
      body: { code: "SERVICE_NOT_FOUND" },
    });
    expect(await call(`/${serviceKey}/story/9.9.9/`)).toMatchObject({
      status: 404,
      body: { code: "SERVICE_NOT_FOUND" },
    });
    expect(await call(`/${serviceKey}/other/1.0.0/`)).toMatchObject({
      status: 404,
      body: { code: "SERVICE_NOT_FOUND" },
    });
    const closed = await world.deploy(await world.createProject("closed", "def run(): ...\n"));
    expect(await call(`/${closed.serviceKey}/closed/${closed.version}/`)).toMatchObject({
      status: 403,
      body: { code: "NOT_SUBSCRIBED" },
    });
  });

  test("another application sees nothing of these executions", async () => {
    const { body } = await consumer.start({});
    const other = await world.subscribe(serviceKey);
    expect(await other.call("GET", body.id)).toMatchObject({
      status: 404,
      body: { code: "EXECUTION_NOT_FOUND" },
    });
    expect((await other.call("GET", "")).body).toEqual([]);
  });
});

describe("versions and the CLI", () => {
  test("unchanged content makes no new version, a change bumps the patch, and the old version keeps serving", async () => {
    expect(await world.deploy(project)).toMatchObject({ version: "1.0.0", changed: false });
    const program = join(project, "src/program.py");
    await writeFile(program, (await readFile(program, "utf8")).replace('"product"', '"result"'));
    expect(await world.deploy(project)).toMatchObject({ version: "1.0.1", changed: true });
    expect((await consumer.start({})).status).toBe(201);
    const newer = await request("POST", consumer.endpoint.replace("1.0.0", "1.0.1"), {
      token: consumer.token,
      json: {},
    });
    expect(newer.status).toBe(201);
  });

  test("run reports the outcome of a job, and exits non-zero when it fails", async () => {
    const good = await world.cli(project, "run", "--json");
    expect([good.code, JSON.parse(good.stdout)]).toMatchObject([0, { status: "SUCCEEDED" }]);
    const bad = await world.cli(project, "run", "--json", "--data", '{"act": "raise"}');
    expect(bad.code).not.toBe(0);
    expect(JSON.stringify(JSON.parse(bad.stdout))).toContain("EXECUTION_ERROR");
  });

  test.each([
    ["no-run", "x = 1\n", {}, "src/program.py has no function named run."],
    ["syntax-error", "def run(:\n", {}, "SyntaxError: invalid syntax"],
    ["import-error", "import does_not_exist\n", {}, "No module named 'does_not_exist'"],
    [
      "no-such-requirement",
      "def run(): ...\n",
      { "requirements.txt": "this-package-does-not-exist-7542==1.0\n" },
      "this-package-does-not-exist-7542",
    ],
  ])("up of a project with %s fails and says why", async (name, program, files, reason) => {
    const broken = await world.createProject(name, program, files);
    const result = await world.cli(broken, "up");
    expect(result.code).not.toBe(0);
    expect(result.stderr + result.stdout).toContain(reason);
  });

  test("a runtime that nobody knows is refused before anything is uploaded", async () => {
    const odd = await world.createProject("odd", "def run(): ...\n", {
      "platform.json": '{"name": "odd", "runtime": "COBOL_TEMPLATE"}',
    });
    const result = await world.cli(odd, "up");
    expect(result.code).not.toBe(0);
    expect(result.stderr).toContain("PYTHON_TEMPLATE");
  });
});

test("a secret is there when a version is built and when it runs; a changed one reaches the next run, and none is in its log", async () => {
  const setSecret = async (value: string) =>
    expect((await world.api("PUT", "/secrets/API_TOKEN", { value })).status).toBe(200);
  await setSecret("the first value");
  const secretive = await world.createProject(
    "secretive",
    'import os\nVALUE = os.environ["API_TOKEN"]\ndef run():\n    print("it is", VALUE)\n    return {"length": len(VALUE)}\n',
  );
  const { serviceKey: key } = await world.deploy(secretive);
  const own = await world.subscribe(key);
  const runOnce = async () => {
    const { body } = await own.start({});
    const state = await own.finish(body.id);
    const result = await own.call<{ result?: unknown }>("GET", `${body.id}/result`);
    return { status: state.status, result: result.body.result, log: await readWholeLog(body.id, own) };
  };
  expect(await runOnce()).toEqual({ status: "SUCCEEDED", result: { length: 15 }, log: ["it is [secret]"] });
  const { body: job } = await world.api<{ id: string }>("POST", `/jobs?serviceKey=${key}`, {});
  const readJobLog = async () => (await world.api<unknown>("GET", `/jobs/${job.id}/log`)).body;
  await expect.poll(readJobLog).toMatchObject({ items: [{ message: "it is [secret]" }] });
  await setSecret("another value, which is longer");
  await expect.poll(async () => (await runOnce()).result).toEqual({ length: 30 });
});

test("revoking a key, or ending a subscription, shuts the gateway's door within seconds", async () => {
  const revoked = await world.subscribe(serviceKey);
  expect((await revoked.start({})).status).toBe(201);
  await world.api(
    "DELETE",
    `/applications/${revoked.subscription.applicationId}/access-keys/${revoked.subscription.keyId}`,
  );
  await expect.poll(async () => (await revoked.start({})).status).toBe(401);

  const ended = await world.subscribe(serviceKey);
  expect((await ended.start({})).status).toBe(201);
  await world.api("DELETE", `/subscriptions/${ended.subscription.id}`);
  await expect.poll(async () => (await ended.start({})).body).toMatchObject({ code: "NOT_SUBSCRIBED" });
});
