import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const PROGRAM = `
import os
from dataclasses import dataclass
from platform_service import OutputPool

@dataclass
class Params:
    tours: OutputPool | None = None
    length: int = 1
    fail: bool = False

def run(params: Params):
    with params.tours.open("tour.csv") as file:
        file.write("city,length\\n" * params.length)
    with params.tours.open("plot.png", "wb") as file:
        file.write(bytes(range(256)))
    os.symlink("/etc/passwd", params.tours.file("passwd"))
    os.mkfifo(params.tours.file("pipe"))
    open(params.tours.file("hidden\\u202e"), "w").close()
    if params.fail:
        raise ValueError("no")
    return {"id": params.tours.id}
`;

interface Files {
  readonly items: readonly { readonly name: string; readonly reference: object; readonly fileId: string }[];
}

interface Result {
  readonly result: object;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly _links: object;
}

let world: World;
let serviceKey: string;

beforeAll(async () => {
  world = await createWorld();
  ({ serviceKey } = await world.deploy(await world.createProject("writer", PROGRAM)));
});
afterAll(() => world?.close());

const createPool = async (name: string) =>
  (await world.api<{ id: string }>("POST", "/data-pools", { name })).body.id;
const listFiles = async (pool: string) =>
  (await world.api<Files>("GET", `/data-pools/${pool}/files`)).body.items;
const bodyOf = (pool: string, more: object = {}) => ({ params: { tours: { dataPoolId: pool }, ...more } });

test("files that a run writes to its output pool are in the data pool when it has succeeded, where the caller may write", async () => {
  const consumer = await world.subscribe(serviceKey);
  const pool = await createPool("Tours");
  const refused = {
    status: 422,
    body: { code: "DATA_REFERENCE_INVALID", errors: [{ path: "/params/tours" }] },
  };
  const stranger = await world.api<{ id: string }>("POST", "/organizations", { name: "Stranger Ltd" });
  const foreign = await request<{ id: string }>("POST", `${world.platform.apiUrl}/api/data-pools`, {
    token: world.login.personalAccessToken,
    headers: { "x-organizationid": stranger.body.id },
    json: { name: "Foreign" },
  });
  const unknown = await consumer.start(bodyOf("00000000-0000-4000-8000-000000000000"));
  expect(unknown).toMatchObject(refused);
  expect(await consumer.start(bodyOf(pool))).toMatchObject(refused);
  expect((await consumer.start(bodyOf(foreign.body.id))).body).toMatchObject({
    ...refused.body,
    detail: (unknown.body as unknown as { detail: string }).detail,
  });
  expect(await world.api("POST", `/jobs?serviceKey=${serviceKey}`, bodyOf(foreign.body.id))).toMatchObject(
    refused,
  );

  const grant = `/data-pools/${pool}/grants/${consumer.subscription.applicationId}`;
  expect((await world.api("PUT", grant, { access: "read" })).status).toBe(200);
  expect(await consumer.start(bodyOf(pool))).toMatchObject(refused);
  expect((await world.api("PUT", grant, { access: "write" })).status).toBe(200);
  expect(await consumer.start(bodyOf("no-uuid"))).toMatchObject({ status: 400 });

  const finish = async (more?: object) => {
    const { body } = await consumer.start(bodyOf(pool, more));
    const { status } = await consumer.finish(body.id);
    return { status, ...(await consumer.call<Result>("GET", `${body.id}/result`)).body };
  };
  expect(await finish({ fail: true })).toMatchObject({ status: "FAILED", code: "EXECUTION_ERROR" });
  expect(await listFiles(pool)).toEqual([]);

  const { result, metadata, _links: links } = await finish();
  const files = await listFiles(pool);
  expect([result, Object.keys(links).toSorted()]).toEqual([{ id: pool }, ["self", "status"]]);
  expect(metadata["_persisted"]).toEqual({
    pools: {
      "/params/tours": {
        dataPoolId: pool,
        files: files.map(({ name, reference }) => ({ name, reference })),
      },
    },
  });
  expect(files).toMatchObject([
    { name: "plot.png", type: "image/png", bytes: 256 },
    { name: "tour.csv", type: "text/csv", bytes: 12 },
  ]);
  expect(metadata["_omittedFiles"]).toMatchObject([
    { name: "hidden\u202e" },
    { name: "passwd", reason: expect.stringContaining("symbolic link") },
    { name: "pipe", reason: expect.stringContaining("a pipe") },
  ]);

  await finish({ length: 2 });
  const replaced = await listFiles(pool);
  expect(replaced).toMatchObject([{ name: "plot.png" }, { name: "tour.csv", bytes: 24 }]);
  expect(replaced[1]?.fileId).not.toBe(files[1]?.fileId);
});
