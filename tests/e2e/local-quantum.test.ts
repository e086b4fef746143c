import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { ECHO_PROGRAM, echoProject } from "../support/echo-backend.ts";
import { startLocalServer } from "../support/local-server.ts";
import type { LocalServer } from "../support/local-server.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

type Body = Readonly<Record<string, unknown>>;

const ASKS = `
import json, os, urllib.error, urllib.request

def ask(path, token, body=None):
    headers = {"X-Auth-Token": token, "Content-Type": "application/json", "Prefer": "wait=20"}
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["PLATFORM_ENDPOINT"] + path, content, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())

def run(data):
    token = os.environ.get("PLATFORM_SERVICE_EXECUTION_TOKEN")
    if token is None:
        return {"names": [name for name in os.environ if "QUANTUM" in name or "PLATFORM_" in name]}
    _, job = ask("/quantum/jobs", token, data["job"])
    return {
        "token": token,
        "result": ask(f"/quantum/jobs/{job['id']}/result", token) if ask(f"/quantum/jobs/{job['id']}", token) else None,
        "others": [ask("/api/services", token)[0], ask("/quantum/jobs", "nobody")[0]],
    }
`;
const JOB = { backend_id: "sim.echo", input_format: "OPEN_QASM_V3", input: { n: 1 } };

let world: World;
let local: LocalServer | undefined;

beforeAll(async () => {
  world = await createWorld();
  await world.deploy(
    await world.createProject("echo", ECHO_PROGRAM, { "platform.json": echoProject("echo", "sim.echo") }),
  );
});
afterAll(async () => {
  await local?.stop();
  await world?.close();
});

test("a project that is served uses backends of the platform as its developer, whose token it never sees", async () => {
  const project = await world.createProject("asks", ASKS);
  const { personalAccessToken: token } = world.login;
  const variables = { PLATFORM_ENDPOINT: world.platform.apiUrl, PLATFORM_PERSONAL_ACCESS_TOKEN: token };
  Object.assign(process.env, variables);
  try {
    local = await startLocalServer(project, "--quantum");
  } finally {
    for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name);
  }
  const result = await local.execute({ data: { job: JOB } });
  expect(result).toMatchObject({
    result: [200, { data: { format: "OPEN_QASM_V3", n: 1 } }],
    others: [404, 401],
  });
  expect(JSON.stringify(result)).not.toContain(token);
  const atPlatform = await request<Body>("GET", `${world.platform.apiUrl}/quantum/jobs`, { token });
  expect(atPlatform.body).toMatchObject({ total_elements: 1, content: [{ service_execution_id: null }] });
  // What executions show is good nowhere else.
  const shown = String(result["token"]);
  expect((await request("GET", `${world.platform.apiUrl}/quantum/jobs`, { token: shown })).status).toBe(401);
  await local.stop();
  local = await startLocalServer(project);
  expect(await local.execute({ data: {} })).toMatchObject({ names: [] });
});
