import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { startLocalServer } from "../support/local-server.ts";
import type { LocalServer } from "../support/local-server.ts";

const MINUTE = 60_000;
const PROGRAM = `
import os
from dataclasses import dataclass
from platform_service import DataPool

@dataclass
class Params:
    maps: DataPool
    padding: int = 0

def run(data: dict, params: Params):
    folder = os.environ["OUTPUT_DIRECTORY"]
    with open(os.path.join(folder, "names é.csv"), "w") as file:
        file.write("\\n".join(params.maps))
    os.symlink("/etc/passwd", os.path.join(folder, "passwd"))
    return {"read": data, "sizes": params.maps.sizes, "padding": "x" * params.padding}
`;

type Links = Readonly<Record<string, { readonly href: string }>>;
interface Metadata {
  readonly _persisted: {
    readonly reference: object;
    readonly name: string;
    readonly pools: Readonly<Record<string, { readonly files: readonly { readonly name: string }[] }>>;
  };
  readonly _omittedFiles: readonly { readonly name: string }[];
}

const dataPoolId = "44444444-4444-4444-8444-444444444444";

let directory: string;
let pools: string;
let project: string;
let local: LocalServer | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "platform-local-"));
  pools = join(directory, "pools");
  await mkdir(join(pools, dataPoolId), { recursive: true });
  await writeFile(join(pools, dataPoolId, "map.json"), '{"berlin": {"cities": 52}}');
  project = join(directory, "tour");
  await mkdir(join(project, "src"), { recursive: true });
  await writeFile(join(project, "platform.json"), '{"name": "tour", "runtime": "PYTHON_TEMPLATE"}');
  await writeFile(join(project, "src/__init__.py"), "");
  await writeFile(join(project, "requirements.txt"), "");
  await writeFile(join(project, "src/program.py"), PROGRAM);
});
afterEach(async () => {
  await local?.stop();
  await rm(directory, { recursive: true });
});

/** The reference of a file that the server found when it started. */
function referTo({ dataPools }: LocalServer, name: string): object {
  const file = dataPools.flatMap(({ files }) => files).find((one) => one.name === name);
  if (file === undefined) throw new Error(`${name} was not printed`);
  return file.reference;
}

const links = (result: Readonly<Record<string, unknown>>) => result["_links"] as Links;
const metadata = (result: Readonly<Record<string, unknown>>) =>
  (result["_embedded"] as { readonly metadata: Metadata }).metadata;

test(
  "the local server reads a data pool, returns files, stores its result in the pool, and reads that by reference",
  { timeout: 4 * MINUTE },
  async () => {
    local = await startLocalServer(project, "--pools", pools);
    const params = { maps: { dataPoolId } };
    const first = await local.execute({
      dataRef: { ...referTo(local, "map.json"), pointer: "/berlin" },
      params,
      persistTo: { dataPoolId, name: "tour.json" },
    });
    expect(first).toMatchObject({ read: { cities: 52 }, sizes: { "map.json": 26 } });

    // Files of the result, as those of a deployed service.
    expect(Object.keys(links(first)).toSorted()).toEqual(["names é.csv", "status"]);
    expect(metadata(first)["_omittedFiles"].map(({ name }) => name)).toEqual(["passwd"]);
    const url = `${local.url}${links(first)["names é.csv"]?.href}`;
    const file = await fetch(url);
    expect(await file.text()).toBe("map.json");
    expect(Object.fromEntries(file.headers)).toMatchObject({
      "content-type": "text/csv",
      "content-length": "8",
      "content-disposition": `attachment; filename="names _.csv"; filename*=UTF-8''names%20%C3%A9.csv`,
      "repr-digest": `sha-256=:${createHash("sha256").update("map.json").digest("base64")}:`,
      "x-content-type-options": "nosniff",
    });
    const part = await fetch(url, { headers: { range: "bytes=4-" } });
    expect([part.status, await part.text()]).toEqual([206, "json"]);
    expect((await fetch(`${url}x`)).status).toBe(404);

    // The result as a file of the pool, and as the input of the next execution.
    const { reference, name } = metadata(first)["_persisted"];
    expect(name).toBe("tour.json");
    const stored = await readFile(join(pools, dataPoolId, "tour.json"), "utf8");
    const { _links: _, _embedded: __, ...result } = first;
    expect(JSON.parse(stored)).toEqual(result);
    const second = await local.execute({ dataRef: reference, params });
    expect(second).toMatchObject({ read: result, sizes: { "tour.json": stored.length } });

    // A large one, in ranges and as a file.
    const padding = 3_000_000;
    const large = await local.execute({
      params: { ...params, padding },
      persistTo: { dataPoolId },
    });
    expect(String(large["padding"]).length).toBe(padding);
    const status = links(large)["status"]?.href ?? "";
    const end = await fetch(`${local.url}${status}/result`, { headers: { range: "bytes=-1" } });
    expect([end.status, await end.text()]).toEqual([206, "}"]);
    const names = await readdir(join(pools, dataPoolId));
    expect(names.toSorted()).toEqual([`${status.slice(1)}.json`, "map.json", "tour.json"].toSorted());
    const copy = await readFile(join(pools, dataPoolId, `${status.slice(1)}.json`), "utf8");
    expect((JSON.parse(copy) as { readonly padding: string }).padding.length).toBe(padding);

    for (const [persistTo, path] of [
      [{ dataPoolId: "55555555-5555-4555-8555-555555555555" }, "/persistTo"],
      [{ dataPoolId, name: "../tour.json" }, "/persistTo/name"],
    ] as const) {
      const refused = await request("POST", `${local.url}/`, { json: { params, persistTo } });
      expect([refused.status, refused.body]).toMatchObject([
        422,
        { code: "DATA_REFERENCE_INVALID", errors: [{ path }] },
      ]);
    }
  },
);

const WRITER = `
import os
from dataclasses import dataclass
from platform_service import DataPool, OutputPool

@dataclass
class Params:
    maps: DataPool
    tours: OutputPool
    fail: bool = False

def run(params: Params):
    for name in params.maps:
        with params.tours.open(name) as file:
            file.write("toured")
    for name in (".hidden", "plot.png"):
        params.tours.open(name).close()
    os.symlink("/etc/passwd", params.tours.file("passwd"))
    if params.fail:
        raise ValueError("no")
    return {"id": params.tours.id}
`;

test(
  "the local server stores the files of a run in its output pool when it has succeeded, as the platform does",
  { timeout: 4 * MINUTE },
  async () => {
    await writeFile(join(project, "src/program.py"), WRITER);
    local = await startLocalServer(project, "--pools", pools);
    const params = { maps: { dataPoolId }, tours: { dataPoolId } };
    const folder = join(pools, dataPoolId);
    for (const [id, status] of [
      ["55555555-5555-4555-8555-555555555555", 422],
      ["../Maps", 400],
    ] as const) {
      const json = { params: { ...params, tours: { dataPoolId: id } } };
      const refused = await request("POST", `${local.url}/`, { json });
      expect([refused.status, refused.body]).toMatchObject([status, { errors: [{ path: "/params/tours" }] }]);
    }
    expect(await local.execute({ params: { ...params, fail: true } })).toMatchObject({
      code: "EXECUTION_ERROR",
    });
    expect(await readdir(folder)).toEqual(["map.json"]);

    const before = referTo(local, "map.json");
    const first = await local.execute({ params });
    expect((await readdir(folder)).toSorted()).toEqual(["map.json", "plot.png"]);
    expect(await readFile(join(folder, "map.json"), "utf8")).toBe("toured");
    expect(Object.keys(links(first))).toEqual(["status"]);
    const { _persisted: persisted, _omittedFiles: omitted } = metadata(first);
    expect(persisted).toEqual({
      pools: {
        "/params/tours": {
          dataPoolId,
          files: [
            { name: "map.json", reference: before },
            { name: "plot.png", reference: expect.objectContaining({ dataPoolId }) },
          ],
        },
      },
    });
    expect(omitted.map(({ name }) => name)).toEqual([".hidden", "passwd"]);
    // What was stored is what the next one reads.
    const second = await local.execute({ params });
    expect(metadata(second)["_persisted"].pools["/params/tours"]?.files).toHaveLength(2);
  },
);
