import { once } from "node:events";
import { get } from "node:http";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FileReference } from "@platform/contract/execution";
import { refuseNamespaces } from "@platform/engine/testing/without-namespaces";
import { waitFor } from "../testing/cli-process.ts";
import { serveProject } from "../testing/served-project.ts";
import type { ServedProject } from "../testing/served-project.ts";
import { readPools } from "./pool-folder.ts";

const PROGRAM = `
import os, time

def run(data: dict, params: dict):
    kind = data.get("kind")
    print("kind is", kind)
    if kind == "fail":
        raise ValueError("no luck")
    if kind == "sleep":
        time.sleep(600)
    if kind == "number":
        return 7
    return {"data": data, "params": params, "pid": os.getpid()}
`;

/** Of the files that the server found when it started. */
const reference = (name: string) => {
  const described = JSON.parse(project.running.stdout()) as {
    dataPools: readonly { name: string; files: readonly { name: string; reference: FileReference }[] }[];
  };
  const file = described.dataPools.flatMap(({ files }) => files).find((one) => one.name === name);
  if (file === undefined) throw new Error(`${name} was not printed`);
  return file.reference;
};

const ANY_REFERENCE = {
  dataPoolId: "11111111-1111-4111-8111-111111111111",
  dataSourceDescriptorId: "22222222-2222-4222-8222-222222222222",
  fileId: "33333333-3333-4333-8333-333333333333",
};

const post = (body: string, type = "application/json") => ({
  method: "POST",
  headers: { "content-type": type },
  body,
});

let project: ServedProject;
let pools: string;

beforeAll(async () => {
  pools = await mkdtemp(join(tmpdir(), "platform-pools-"));
  await mkdir(join(pools, "Maps"));
  for (const [name, content] of Object.entries({
    "data.json": '{"from": "pool"}',
    "params.json": '{"shots": 10}',
    "list.json": "[1]",
  }))
    await writeFile(join(pools, "Maps", name), content);
  project = await serveProject(PROGRAM, { flags: ["--pools", pools] });
});

afterAll(async () => {
  await project.close();
  await rm(pools, { recursive: true });
});

const idOf = (body: Readonly<Record<string, unknown>>) => String(body["id"]);
const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);

test("start answers 201 with Location, id, PENDING, and createdAt", async () => {
  const { status, headers, body } = await project.start({ data: { kind: "plain" } });
  expect(status).toBe(201);
  expect(headers.get("location")).toBe(`/${idOf(body)}`);
  // What is known of the queue besides depends on what was read of it before.
  const waiting = expect.objectContaining({ reason: "QUEUE" }) as unknown;
  expect(body).toEqual({
    id: idOf(body),
    status: "PENDING",
    createdAt: TIMESTAMP,
    terminal: false,
    waiting,
  });
});

const CONNECT = `
import socket
def run(params: dict):
    with socket.create_connection(("127.0.0.1", params["port"]), 5) as connection:
        return connection.recv(5).decode()
`;
const HIDE_TUN = 'mount -t tmpfs none /dev/net && exec "$@"';
const UNABLE = [
  ["user namespaces", refuseNamespaces],
  ...(process.getuid?.() === 0
    ? [
        [
          "a tun device",
          (command: readonly string[]) =>
            ["unshare", "--mount", "sh", "-c", HIDE_TUN, "sh", ...command] as const,
        ] as const,
      ]
    : []),
] as const;

test.each(UNABLE)(
  "on a machine without %s, the code has the network of this machine, and its developer is told so",
  async (_what, wrap) => {
    const server = createServer((socket) => socket.end("local")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const served = await serveProject(CONNECT, { wrap });
    try {
      expect(served.running.stderr()).toContain(
        '  Network        this machine\'s, unless platform.json says "none": ',
      );
      const params = { port: (server.address() as AddressInfo).port };
      expect(await served.execute({ params })).toMatchObject({ value: "local" });
    } finally {
      await served.close();
      server.close();
    }
  },
);

/** The files that a process has open. */
function listOpen(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      return []; // it was closed meanwhile
    }
  });
}

test.runIf(process.platform === "linux")(
  "what the starter of the server left open is closed, before code of the project could inherit it",
  async () => {
    const starter = `import os, sys\nos.dup2(os.open("/etc/hostname", os.O_RDONLY), 200)\nprint(os.getpid(), file=sys.stderr, flush=True)\nos.execv(sys.argv[1], sys.argv[1:])`;
    const served = await serveProject(PROGRAM, {
      wrap: (command) => ["/usr/bin/python3", "-c", starter, ...command],
    });
    try {
      const pid = Number.parseInt(served.running.stderr(), 10);
      expect(readFileSync(`/proc/${pid}/cmdline`, "latin1")).toContain("serve");
      expect(listOpen(pid)).not.toContain("/etc/hostname");
    } finally {
      await served.close();
    }
  },
);

test("a page of another name that leads here is refused", async () => {
  const status = await new Promise((resolve, reject) => {
    const { hostname, port } = new URL(project.url);
    const headers = { host: `rebound.example:${port}` };
    get({ hostname, port, headers }, (response) => resolve(response.resume().statusCode)).on("error", reject);
  });
  expect(status).toBe(403);
});

test("the result has the output as top-level fields, a link and the status block", async () => {
  const started = await project.start({ data: { a: 1 }, params: { b: 2 } }, true);
  const id = idOf(started.body);
  const state = await project.call(`/${id}`);
  expect(state).toMatchObject({ status: 200, body: { id, status: "SUCCEEDED", terminal: true } });

  const result = await project.call(`/${id}/result`);
  expect(result.status).toBe(200);
  expect(result.body).toEqual({
    data: { a: 1 },
    params: { b: 2 },
    pid: expect.any(Number),
    _links: { status: { href: `/${id}` } },
    _embedded: {
      status: {
        id,
        status: "SUCCEEDED",
        created_at: TIMESTAMP,
        started_at: TIMESTAMP,
        ended_at: TIMESTAMP,
      },
      metadata: { _usage: expect.any(Object) },
    },
  });
});

test("a result that is no object is wrapped as value", async () => {
  expect(await project.execute({ data: { kind: "number" } })).toMatchObject({ value: 7 });
});

test("an execution that raises has code and detail as its result, with status 200", async () => {
  const started = await project.start({ data: { kind: "fail" } }, true);
  expect(started.body).toMatchObject({ status: "FAILED" });
  const result = await project.call(`/${idOf(started.body)}/result`);
  expect(result.status).toBe(200);
  expect(result.body).toMatchObject({
    code: "EXECUTION_ERROR",
    detail: "ValueError: no luck",
    _embedded: { status: { status: "FAILED" } },
  });
});

test("what the code prints is printed at the terminal and stored as the execution's log", async () => {
  const started = await project.start({ data: { kind: "shown" } }, true);
  const response = await fetch(`${project.url}/${idOf(started.body)}/log`);
  expect(await response.json()).toContainEqual({
    timestamp: TIMESTAMP,
    severity: "INFO",
    message: "kind is shown",
  });
  expect(project.running.stderr()).toContain("kind is shown");
});

test("cancel really ends the processes of a running execution", async () => {
  const started = await project.start({ data: { kind: "sleep" } });
  const id = idOf(started.body);
  await waitFor("RUNNING", async () => {
    const { body } = await project.call(`/${id}`);
    return body["status"] === "RUNNING" ? true : undefined;
  });
  const early = await project.call(`/${id}/result`);
  expect(early).toMatchObject({ status: 404, body: { code: "RESULT_NOT_READY" } });
  expect(early.headers.get("retry-after")).toBe("1");

  const cancelled = await project.call(`/${id}/cancel`, { method: "PUT" });
  expect(cancelled.status).toBe(200);
  const ended = await project.call(`/${id}`, { headers: { prefer: "wait=10" } });
  expect(ended.body).toMatchObject({ status: "FAILED" });
  expect((await project.call(`/${id}/result`)).body).toMatchObject({ code: "CANCELLED" });
});

test.each([["Bearer anything"], ["Basic eDp5"], [undefined]])(
  "authorization %s is accepted",
  async (authorization) => {
    const headers = authorization === undefined ? {} : { authorization };
    const init = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: "{}" };
    expect((await project.call("/", init)).status).toBe(201);
  },
);

test("an endpoint that ends with a slash is joined by clients with another one", async () => {
  const started = await project.start({}, true);
  expect((await project.call(`//${idOf(started.body)}`)).status).toBe(200);
  expect((await project.call(`//${idOf(started.body)}/result/`)).status).toBe(200);
});

describe("data pool references", () => {
  test("data and params come from files of the folder, by the references that are printed at the start", async () => {
    const body = { dataRef: reference("data.json"), paramsRef: reference("params.json") };
    expect(await project.execute(body)).toMatchObject({ data: { from: "pool" }, params: { shots: 10 } });
    expect(await project.execute({ dataRef: reference("data.json"), params: { x: 1 } })).toMatchObject({
      data: { from: "pool" },
      params: { x: 1 },
    });
  });

  test("an execution reads what the file had when it was started, whatever becomes of the file", async () => {
    const path = join(pools, "Maps/edited.json");
    await writeFile(path, '{"kind": "first"}');
    const { pools: found } = await readPools(pools);
    const dataRef = found[0]?.files.find(({ name }) => name === "edited.json")?.reference;
    const busy = await Promise.all(
      Array.from({ length: 2 * cpus().length }, () => project.start({ dataRef: reference("data.json") })),
    );
    const { body } = await project.start({ dataRef });
    await writeFile(path, '{"kind": "second"}');
    await rm(path);
    expect(busy.every(({ status }) => status === 201)).toBe(true);
    const result = await waitFor("the result", async () => {
      const answer = await project.call(`/${idOf(body)}/result`);
      return answer.status === 200 ? answer : undefined;
    });
    expect(result.body).toMatchObject({ data: { kind: "first" } });
  });

  test("an unknown file is refused, and the detail says where it was looked for", async () => {
    const { status, body } = await project.start({
      dataRef: { ...reference("data.json"), fileId: "33333333-3333-4333-8333-333333333333" },
    });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      code: "DATA_REFERENCE_INVALID",
      detail: expect.stringContaining(pools),
    });
  });

  test("a file that is no JSON object is refused", async () => {
    const { status, body } = await project.start({ paramsRef: reference("list.json") });
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: "DATA_REFERENCE_INVALID" });
  });

  test("ids that would lead out of the folder are refused", async () => {
    const { status, body } = await project.start({
      dataRef: { ...reference("data.json"), fileId: "../../platform.json" },
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "INVALID_INPUT" });
  });
});

describe("bad input is refused with a code, as at the gateway:", () => {
  const nested = `{"data":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`;
  const large = `{"data":{"a":"${"x".repeat(1_048_577 - 8)}"}}`;
  const unknownId = "0198c1de-7a53-7000-8000-000000000000";

  test.each<readonly [string, string, RequestInit, number, string]>([
    ["no JSON", "/", post("{"), 400, "INVALID_JSON"],
    ["nothing at all", "/", post(""), 400, "INVALID_JSON"],
    ["an array", "/", post("[]"), 400, "INVALID_INPUT"],
    ["a string", "/", post('"x"'), 400, "INVALID_INPUT"],
    ["an unknown key", "/", post('{"datas":{}}'), 400, "INVALID_INPUT"],
    ["data that is no object", "/", post('{"data":[1]}'), 400, "INVALID_INPUT"],
    ["both of a pair", "/", post(JSON.stringify({ data: {}, dataRef: ANY_REFERENCE })), 400, "INVALID_INPUT"],
    ["a body nested 100,000 levels deep", "/", post(nested), 400, "INVALID_INPUT"],
    ["data of 1 MB and one byte", "/", post(large), 413, "INPUT_TOO_LARGE"],
    ["another content type", "/", post("{}", "text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["a form", "/", post("a=1", "application/x-www-form-urlencoded"), 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["a media type that is not offered", "/", { headers: { accept: "image/png" } }, 406, "NOT_ACCEPTABLE"],
    ["another method", "/", { method: "DELETE" }, 405, "METHOD_NOT_ALLOWED"],
    ["an unknown id", `/${unknownId}`, {}, 404, "EXECUTION_NOT_FOUND"],
    ["an unknown id's result", `/${unknownId}/result`, {}, 404, "EXECUTION_NOT_FOUND"],
    ["an id that is none", "/nonsense", {}, 404, "EXECUTION_NOT_FOUND"],
    ["a path that is none", "/a/b/c/d", {}, 404, "NOT_FOUND"],
  ])("%s", async (_what, path, init, status, code) => {
    const answer = await project.call(path, init);
    expect(answer).toMatchObject({ status, body: { code, detail: expect.any(String) } });
  });

  test("data of exactly 1 MB is accepted", async () => {
    const body = `{"data":{"a":"${"x".repeat(1_048_576 - 8)}"}}`;
    expect((await project.start(body)).status).toBe(201);
  });
});

describe("documentation", () => {
  test("/docs and everything it loads come from this server", async () => {
    const page = await project.call("/docs");
    expect(page.status).toBe(200);
    const text = String(page.body["text"]);
    const loaded = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? "");
    expect(loaded.length).toBeGreaterThan(2);
    for (const path of loaded) {
      expect(path).toMatch(/^\//);
      expect((await fetch(`${project.url}${path}`)).status).toBe(200);
    }
  });

  test("/openapi.json describes the operations and the local form of the result", async () => {
    const { body } = await project.call("/openapi.json");
    expect(body).toMatchObject({
      openapi: "3.1.0",
      info: { title: "demo" },
      paths: {
        "/": { post: {} },
        "/{id}": { get: {} },
        "/{id}/result": {
          get: {
            responses: {
              200: {
                content: { "application/json": { schema: { $ref: "#/components/schemas/LocalResult" } } },
              },
            },
          },
        },
      },
    });
  });
});

test("a port in use is reported with the option that helps", async () => {
  const { port } = new URL(project.url);
  const { exitCode, stdout } = await project.home.run(["serve", "--port", port, "--json"], {
    folder: "demo",
  });
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "PORT_IN_USE", hint: expect.stringContaining("--port") },
  });
});

test("a host that is not this machine is reported with the option that helps", async () => {
  const { exitCode, stdout } = await project.home.run(
    ["serve", "--port", "0", "--host", "nowhere.invalid", "--json"],
    { folder: "demo" },
  );
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "CANNOT_LISTEN", hint: expect.stringContaining("--host") },
  });
});
