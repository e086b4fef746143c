import { createHash } from "node:crypto";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sendTus, toMetadata } from "../../tools/tus-calls.ts";
import { startLocalServer } from "../support/local-server.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const EXAMPLE = join(import.meta.dirname, "../../examples/stations");
const FOLDER_PROGRAM = `
from dataclasses import dataclass
from platform_service import DataPool

@dataclass
class Params:
    maps: DataPool
    other: DataPool | None = None

def run(params: Params):
    def read(name):
        with params.maps.open(name) as file:
            return file.read()
    return {"id": params.maps.id, "contents": {name: read(name) for name in params.maps}}
`;

const PYDANTIC_PROGRAM = `
from pydantic import BaseModel, Field
from platform_service import DataPool

class Params(BaseModel):
    maps: DataPool
    factor: int = Field(default=1, ge=1)

def run(data: DataPool, params: Params):
    contents = [params.maps.open(name).read() for name in params.maps]
    return {"model": type(params).__name__, "factor": params.factor, "maps": contents, "beside": list(data)}
`;

const PROGRAM = `
def run(data, params):
    return {"cities": len(data["cities"]), "factor": params.get("factor")}
`;

/** What a file may have, 5 GB. */
const MOST_BYTES = 5 * 1024 ** 3;

/** A stored file, as far as it is read here. */
interface StoredFile {
  readonly fileId: string;
  readonly reference: object;
}

let world: World;
let serviceKey: string;

beforeAll(async () => {
  world = await createWorld();
  ({ serviceKey } = await world.deploy(await world.createProject("tour", PROGRAM)));
});
afterAll(() => world?.close());

async function storeFile(poolId: string, name: string, content: string): Promise<StoredFile> {
  const stored = await fetch(`${world.platform.apiUrl}/api/data-pools/${poolId}/files/${name}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${world.login.personalAccessToken}` },
    body: content,
  });
  expect(stored.status).toBe(201);
  return (await stored.json()) as StoredFile;
}

test("a file may have 5 GB: one byte more is refused when it is announced, by one request and for one that can be resumed", async () => {
  const { body: pool } = await world.api<{ id: string }>("POST", "/data-pools", { name: "Large" });
  const { apiUrl } = world.platform;
  const authorization = `Bearer ${world.login.personalAccessToken}`;
  const sent = request(`${apiUrl}/api/data-pools/${pool.id}/files/large.bin`, {
    method: "PUT",
    agent: false,
    headers: { authorization, "content-length": MOST_BYTES + 1 },
  });
  sent.flushHeaders();
  // Nothing of it has been sent.
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  expect([answer.statusCode, await json(answer)]).toEqual([
    413,
    expect.objectContaining({ code: "FILE_TOO_LARGE" }),
  ]);
  sent.destroy();
  const announce = (bytes: number) =>
    sendTus("POST", `${apiUrl}/api/uploads`, {
      headers: {
        authorization,
        "upload-length": String(bytes),
        "upload-metadata": toMetadata({ dataPoolId: pool.id, filename: "large.bin" }),
      },
    });
  const refused = await announce(MOST_BYTES + 1);
  expect([refused.status, refused.body]).toEqual([413, expect.stringContaining("FILE_TOO_LARGE")]);
  const begun = await announce(MOST_BYTES);
  expect(begun.status).toBe(201);
  const upload = `${apiUrl}${begun.headers.location}`;
  expect((await sendTus("DELETE", upload, { headers: { authorization } })).status).toBe(204);
});

test("a job reads a file of a data pool as it was when the job was started, and its result says which content", async () => {
  const { body: pool } = await world.api<{ id: string }>("POST", "/data-pools", { name: "Maps" });
  const store = (content: string) => storeFile(pool.id, "map.json", content);
  const content = JSON.stringify({
    berlin: { cities: Array.from({ length: 200_000 }, (_, index) => index) },
  });
  const { reference, fileId } = await store(content);
  const dataRef = { ...reference, pointer: "/berlin" };
  const body = { dataRef, params: { factor: 2 } };
  const { body: job } = await world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, body);
  await store("{}");
  const read = async () => (await world.api<Record<string, unknown>>("GET", `/jobs/${job.id}/result`)).body;
  await expect.poll(read).toMatchObject({
    result: { cities: 200_000, factor: 2 },
    metadata: {
      _inputs: {
        data: { fileId, sha256: createHash("sha256").update(content).digest("hex"), bytes: content.length },
      },
    },
  });
  expect((await world.api("POST", `/jobs?serviceKey=${serviceKey}`, body)).body).toMatchObject({
    code: "DATA_REFERENCE_INVALID",
  });
});

test("the same body starts a job and an execution of the local server, whose folder has the list of the platform's files", async () => {
  const { body: pool } = await world.api<{ id: string }>("POST", "/data-pools", { name: "Both" });
  const files = { "map.json": '{"berlin": {"cities": [1, 2, 3]}}', "params.json": '{"factor": 3}' };
  const pools = await mkdtemp(join(tmpdir(), "platform-pools-"));
  await mkdir(join(pools, "Both"));
  const references: object[] = [];
  for (const [name, content] of Object.entries(files)) {
    references.push((await storeFile(pool.id, name, content)).reference);
    await writeFile(join(pools, "Both", name), content);
  }
  const { body: list } = await world.api("GET", `/data-pools/${pool.id}/files`);
  await writeFile(join(pools, "Both.json"), JSON.stringify(list));
  const [map, paramsRef] = references;
  const bodyOf = (pointer: string) => ({ dataRef: { ...map, pointer }, paramsRef });
  const local = await startLocalServer(join(world.directory, "tour"), "--pools", pools);
  try {
    expect(await local.execute(bodyOf("/berlin"))).toMatchObject({ cities: 3, factor: 3 });
    const { body: job } = await world.api<{ id: string }>(
      "POST",
      `/jobs?serviceKey=${serviceKey}`,
      bodyOf("/berlin"),
    );
    const read = async () => (await world.api("GET", `/jobs/${job.id}/result`)).body;
    await expect.poll(read).toMatchObject({ result: { cities: 3, factor: 3 } });
    for (const pointer of ["/paris", "/berlin/cities"]) {
      const hosted = await world.api("POST", `/jobs?serviceKey=${serviceKey}`, bodyOf(pointer));
      const refused = await local.start(bodyOf(pointer));
      expect(refused.status).toBe(hosted.status);
      expect(refused.body["code"]).toBe("DATA_REFERENCE_INVALID");
      expect(refused.body["detail"]).toBe(hosted.body["detail"]);
    }
  } finally {
    await local.stop();
    await rm(pools, { recursive: true });
  }
});

test("an application reads a pool that it was granted and has its result stored there, which the next execution reads", async () => {
  const consumer = await world.subscribe(serviceKey);
  const { body: pool } = await world.api<{ id: string }>("POST", "/data-pools", { name: "Chain" });
  const { reference } = await storeFile(pool.id, "map.json", '{"cities": [1, 2, 3, 4]}');
  const body = { dataRef: reference, persistTo: { dataPoolId: pool.id, name: "tour.json" } };
  expect((await consumer.start(body)).status).toBe(422);
  const grant = `/data-pools/${pool.id}/grants/${consumer.subscription.applicationId}`;
  expect((await world.api("PUT", grant, { access: "write" })).status).toBe(200);
  const { body: started } = await consumer.start(body);
  await consumer.finish(started.id);
  const { body: result } = await consumer.call<{
    result: object;
    metadata: Readonly<Record<string, { reference: object }>>;
  }>("GET", `${started.id}/result`);
  expect(result.result).toEqual({ cities: 4, factor: null });
  const persisted = result.metadata["_persisted"];
  const { body: files } = await world.api<{ items: readonly (StoredFile & { name: string })[] }>(
    "GET",
    `/data-pools/${pool.id}/files`,
  );
  expect(files.items.find(({ name }) => name === "tour.json")?.reference).toEqual(persisted?.reference);
  const { body: next } = await world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, {
    data: { cities: [] },
    paramsRef: persisted?.reference,
  });
  const read = async () => (await world.api<Record<string, unknown>>("GET", `/jobs/${next.id}/result`)).body;
  await expect.poll(read).toMatchObject({ result: { cities: 0, factor: null } });
});

test("a job, an application's execution and one of the local server read a data pool as a folder, as it was when they were started", async () => {
  const { body: pool } = await world.api<{ id: string }>("POST", "/data-pools", { name: "Folder" });
  const pools = await mkdtemp(join(tmpdir(), "platform-pools-"));
  await mkdir(join(pools, pool.id));
  const contents = { "a.txt": "one", "b.txt": "two" };
  const write = async (name: string, content: string) => {
    await storeFile(pool.id, name, content);
    await writeFile(join(pools, pool.id, name), content);
  };
  for (const [name, content] of Object.entries(contents)) await write(name, content);
  const project = await world.createProject("folder", FOLDER_PROGRAM);
  const { serviceKey: key } = await world.deploy(project);
  const consumer = await world.subscribe(key);
  const local = await startLocalServer(project, "--pools", pools);
  try {
    const body = { params: { maps: { dataPoolId: pool.id } } };
    const { body: job } = await world.api<{ id: string }>("POST", `/jobs?serviceKey=${key}`, body);
    const { body: started } = await local.start(body);
    await write("a.txt", "replaced");
    const expected = { id: pool.id, contents };
    const readJob = async () => (await world.api("GET", `/jobs/${job.id}/result`)).body;
    await expect.poll(readJob).toMatchObject({
      result: expected,
      metadata: {
        _inputs: {
          pools: { "/params/maps": { dataPoolId: pool.id, files: 2, bytes: 6, sha256: sumOf(contents) } },
        },
      },
    });
    expect(await local.finish(String(started["id"]))).toMatchObject(expected);
    // The application was granted nothing.
    const refused = await consumer.start(body);
    expect([refused.status, refused.body]).toMatchObject([422, { code: "DATA_REFERENCE_INVALID" }]);
    for (const wrong of [
      { params: {} },
      { params: { maps: { dataPoolId: "x" } } },
      { params: { maps: pool.id } },
    ])
      for (const answer of [
        await local.start(wrong),
        await world.api("POST", `/jobs?serviceKey=${key}`, wrong),
      ])
        expect([answer.status, answer.body]).toMatchObject([400, { code: "INVALID_INPUT" }]);
  } finally {
    await local.stop();
    await rm(pools, { recursive: true });
  }
});

test("a model of pydantic has a data pool as a field, and one stands beside it; the model's own bounds hold", async () => {
  const { body: pool } = await world.api<{ id: string }>("POST", "/data-pools", { name: "Modelled" });
  await storeFile(pool.id, "a.txt", "one");
  const requirements = { "requirements.txt": "pydantic>=2,<3\n" };
  const project = await world.createProject("modelled", PYDANTIC_PROGRAM, requirements);
  const { serviceKey: key } = await world.deploy(project);
  const start = (maps: unknown, factor: number) =>
    world.api<{ id: string }>("POST", `/jobs?serviceKey=${key}`, {
      data: { dataPoolId: pool.id },
      params: { maps, factor },
    });
  const { body: job } = await start({ dataPoolId: pool.id }, 2);
  const read = async () => (await world.api("GET", `/jobs/${job.id}/result`)).body;
  await expect
    .poll(read)
    .toMatchObject({ result: { model: "Params", factor: 2, maps: ["one"], beside: ["a.txt"] } });
  for (const [maps, factor] of [
    [{ dataPoolId: pool.id }, 0],
    [pool.id, 2],
    [undefined, 2],
  ] as const) {
    const refused = await start(maps, factor);
    expect([refused.status, refused.body]).toMatchObject([400, { code: "INVALID_INPUT" }]);
  }
});

test("the example of a data pool returns the same result and file from the platform and from the local server", async () => {
  const project = join(world.directory, "stations");
  await cp(EXAMPLE, project, { recursive: true });
  const files = join(project, "datapools/Stations");
  const { body: pool } = await world.api<{ id: string }>("POST", "/data-pools", { name: "Stations" });
  for (const name of await readdir(files))
    await storeFile(pool.id, name, await readFile(join(files, name), "utf8"));
  const expected = { means: { berlin: 21, hamburg: 17, stuttgart: 23.5 }, highest: "stuttgart" };
  const table = "station,temperature\nberlin,21.0\nhamburg,17.0\nstuttgart,23.5\n";

  const { serviceKey: key } = await world.deploy(project);
  const body = { params: { stations: { dataPoolId: pool.id } } };
  const { body: job } = await world.api<{ id: string }>("POST", `/jobs?serviceKey=${key}`, body);
  const read = async () => (await world.api("GET", `/jobs/${job.id}/result`)).body;
  await expect.poll(read).toMatchObject({ result: expected });
  const file = await fetch(`${world.platform.apiUrl}/api/jobs/${job.id}/result/means.csv`, {
    headers: { authorization: `Bearer ${world.login.personalAccessToken}` },
  });
  expect(await file.text()).toBe(table);

  const local = await startLocalServer(project);
  try {
    const params: unknown = JSON.parse(await readFile(join(project, "input/params.json"), "utf8"));
    const result = await local.execute({ params });
    expect(result).toMatchObject(expected);
    const { "means.csv": link } = result["_links"] as Readonly<Record<string, { readonly href: string }>>;
    expect(await (await fetch(`${local.url}${link?.href}`)).text()).toBe(table);
  } finally {
    await local.stop();
  }
});

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** As `sha256sum * | sha256sum` in a folder of these files. */
function sumOf(contents: Readonly<Record<string, string>>): string {
  return sha256(
    Object.entries(contents)
      .map(([name, content]) => `${sha256(content)}  ${name}\n`)
      .join(""),
  );
}
