import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { waitUntil } from "@platform/engine/testing/wait-until";
import type { Build, Version } from "@platform/contract/platform-api/services";
import type { Resources } from "@platform/contract/project";
import { createEnvironmentBuilder } from "@platform/engine/environments/environment";
import type { EnvironmentBuilder } from "@platform/engine/environments/environment";
import { findInterpreter } from "@platform/engine/environments/interpreter";
import { packProject } from "@platform/engine/project/pack";
import { createMemoryStore } from "@platform/engine/store/memory-store";
import { createFixture } from "@platform/engine/testing/python-fixture";
import type { Fixture } from "@platform/engine/testing/python-fixture";
import { writeFiles } from "@platform/engine/testing/project-fixtures";
import { SECOND, HOUR } from "@platform/engine/base/time";
import { watchDisk } from "../disk/disk-guard.ts";
import type { DiskGuard } from "../disk/disk-guard.ts";
import { guardBuilds } from "../disk/guarded-stores.ts";
import { createObjectStore } from "../objects/object-store.ts";
import { createRecordingLogger, createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createBuilder } from "./builder.ts";
import type { BuilderDeps } from "./builder.ts";
import { createVersionFiles } from "../versions/version-files.ts";
import { createVersionSource } from "../versions/version-source.ts";

const PROGRAM =
  "def run(data: dict, params: dict):\n    print('ran')\n    return {'sum': sum(data['values'])}\n";

function returning(n: number): string {
  return `def run():\n    return ${n}\n`;
}

function typed(hint: string): string {
  return `from typing import TypedDict\nclass Data(TypedDict):\n    n: ${hint}\ndef run(data: Data):\n    return {}\n`;
}

/** A model, as the runtime recognises one, that describes itself so. */
function modelled(schema: string): string {
  return `
def nest(levels):
    schema = {}
    for _ in range(levels):
        schema = {"items": schema}
    return schema

class Data:
    @classmethod
    def model_json_schema(cls, ref_template="", mode=""):
        return ${schema}
    @classmethod
    def model_validate(cls, value):
        return value
    def model_dump(self, mode=""):
        return {}

def run(data: Data):
    return {}
`;
}

describe("a build", () => {
  let home: TestDatabase;
  let instance: TestInstance;
  let owner: TestUser;
  let python: Fixture;
  let environments: EnvironmentBuilder;
  let directory: string;
  let deps: BuilderDeps;
  let services = 0;
  const workers = createMemoryStore();
  const setWorkers = async (...capacities: readonly Resources[]) => {
    for (let index = 0; index < 9; index++) await workers.leave(`worker-${index}`);
    const report = {
      free: { cpu: 0, memory: 0 },
      excludedVersionIds: [],
      reservedId: null,
      reservesAfterSeconds: null,
    };
    for (const [index, capacity] of capacities.entries())
      await workers.report({ ...report, workerId: `worker-${index}`, capacity });
  };
  let disk: Pick<DiskGuard, "isLow"> | null = null;

  beforeAll(async () => {
    await setWorkers({ cpu: 2, memory: 4 });
    home = await createTestDatabase();
    directory = await mkdtemp(join(tmpdir(), "builder-"));
    await chmod(directory, 0o755);
    instance = await createTestInstance({
      database: home.database,
      directory,
      maxArchiveBytes: 1_000_000,
      isDiskLow: () => disk?.isLow() ?? false,
    });
    owner = await createTestUser(instance);
    python = await createFixture();
    const interpreter = await findInterpreter({ searchPath: "/usr/bin" });
    environments = createEnvironmentBuilder({ directory: join(directory, "environments"), interpreter });
    const objects = createObjectStore(join(directory, "objects"));
    deps = {
      ...instance.stores,
      files: createVersionFiles({ directory: join(directory, "versions"), objects }),
      environments,
      runtime: python.runtime,
      workers,
      workerId: "builder-1",
      logger: createRecordingLogger(),
    };
  });
  afterAll(async () => {
    await environments?.close();
    await python?.close();
    await instance?.close();
    await home?.close();
    await rm(directory, { recursive: true, force: true });
  });

  const createService = async () => {
    const name = `service-${(services += 1)}`;
    const { key } = await instance.stores.services.create({
      organizationId: owner.organizationId,
      name,
      description: "",
    });
    return { key, name };
  };
  const pack = async (name: string, program = PROGRAM, more: Readonly<Record<string, unknown>> = {}) => {
    const folder = await mkdtemp(join(directory, "project-"));
    await writeFiles(folder, {
      "platform.json": JSON.stringify({ name, runtime: "PYTHON_TEMPLATE", ...more }),
      "src/__init__.py": "",
      "src/program.py": program,
    });
    return (await packProject(folder)).archive;
  };
  const upload = (key: string, archive: Buffer, query = "") =>
    instance.api.inject({
      method: "POST",
      url: `/api/services/${key}/versions${query}`,
      headers: { authorization: `Bearer ${owner.token}`, "content-type": "application/zip" },
      payload: archive,
    });
  const read = async <T>(path: string): Promise<T> => {
    const response = await instance.api.inject({
      method: "GET",
      url: `/api${path}`,
      headers: { authorization: `Bearer ${owner.token}` },
    });
    return response.json<T>();
  };
  const listStored = async () =>
    (
      await Promise.all(
        ["objects", "versions"].map((folder) => readdir(join(directory, folder), { recursive: true })),
      )
    )
      .flat()
      .toSorted();
  const readBuild = (key: string, version: string) =>
    read<Build>(`/services/${key}/versions/${version}/build`);
  const buildAll = async (key: string, version: string): Promise<Build> => {
    const builder = createBuilder(deps, { pollMs: 100 });
    await waitUntil(async () => (await readBuild(key, version)).terminal);
    await builder.drain();
    return readBuild(key, version);
  };
  const deploy = async (key: string, archive: Buffer, query = ""): Promise<Build> => {
    const response = await upload(key, archive, query);
    expect(response.statusCode).toBe(201);
    return buildAll(key, response.json<Build>().version);
  };

  test("makes a version of an upload that a worker can run, with the schema of its hints", async () => {
    const { key, name } = await createService();
    const response = await upload(
      key,
      await pack(name, PROGRAM, { timeoutSeconds: 9, resources: { cpu: 0.5 } }),
    );
    expect(response.headers.location).toBe(`/api/services/${key}/versions/1.0.0/build`);
    expect(response.json()).toMatchObject({ version: "1.0.0", status: "PENDING", terminal: false });
    const build = await buildAll(key, "1.0.0");
    expect(build).toMatchObject({ status: "SUCCEEDED", terminal: true });
    expect(build.log).toContain("Building version 1.0.0");
    const { items } = await read<{ items: Version[] }>(`/services/${key}/versions`);
    expect(items).toMatchObject([
      { version: "1.0.0", status: "LIVE", timeoutSeconds: 9, resources: { cpu: 0.5, memory: 1 } },
    ]);
    const version = await instance.stores.versions.findLatest(owner.organizationId, key);
    const source = createVersionSource(deps);
    const runnable = await source.prepare(version?.id ?? "", new AbortController().signal);
    const { result, lines } = await python.finish(runnable, { data: { values: [1, 2] } });
    expect(result).toEqual({ sum: 3 });
    expect(lines.map((line) => line.message)).toContain("ran");
  });

  test("counts versions on, by the wished step or to the wished number, and never overwrites one", async () => {
    const { key, name } = await createService();
    for (const [query, expected] of [
      ["?bump=major", "1.0.0"],
      ["", "1.0.1"],
      ["?bump=minor", "1.1.0"],
      ["?bump=major", "2.0.0"],
      ["?version=2.5.0", "2.5.0"],
      ["", "2.5.1"],
    ] as const) {
      const { version, status } = await deploy(key, await pack(name, returning(Math.random()), {}), query);
      expect([version, status]).toEqual([expected, "SUCCEEDED"]);
    }
    const taken = await upload(key, await pack(name, returning(7)), "?version=2.5.0");
    expect(taken.statusCode).toBe(409);
    expect(taken.json()).toMatchObject({ code: "CONFLICT" });
  });

  test("is refused where no number comes after the highest, and another step goes on", async () => {
    const { key, name } = await createService();
    await deploy(key, await pack(name), "?version=1.0.999999999");
    const refused = await upload(key, await pack(name, returning(2)));
    expect([refused.statusCode, refused.json()]).toMatchObject([409, { code: "CONFLICT" }]);
    expect((await upload(key, await pack(name, returning(3)), "?bump=minor")).json()).toMatchObject({
      version: "1.1.0",
    });
  });

  test("is not repeated for unchanged content, whether it runs or is done; going back to older content is a change", async () => {
    const { key, name } = await createService();
    const first = await pack(name);
    expect((await upload(key, first)).statusCode).toBe(201);
    const again = await upload(key, first);
    expect([again.statusCode, again.json().version]).toEqual([200, "1.0.0"]);
    await buildAll(key, "1.0.0");
    expect((await upload(key, first)).statusCode).toBe(200);
    await deploy(key, await pack(name, `${PROGRAM}# changed\n`));
    expect((await upload(key, first)).json()).toMatchObject({ version: "1.0.2", status: "PENDING" });
    await buildAll(key, "1.0.2");
  });

  test("gives two uploads at the same moment two numbers", async () => {
    const { key, name } = await createService();
    const archives = await Promise.all([1, 2, 3].map((n) => pack(name, returning(n))));
    const responses = await Promise.all(archives.map((archive) => upload(key, archive)));
    expect(new Set(responses.map((response) => response.json().version))).toEqual(
      new Set(["1.0.0", "1.0.1", "1.0.2"]),
    );
    await buildAll(key, "1.0.2");
  });

  test.each([
    ["a syntax error", "def run(:\n", "SyntaxError"],
    ["an import that fails", "import nothing_like_this\ndef run(): pass\n", "nothing_like_this"],
    ["no run", "def walk(): pass\n", "run"],
    ["a module that ends the process", "import os\nos._exit(3)\n", "import"],
  ])("fails with code, detail and log for %s, and the builder lives on", async (_what, program, named) => {
    const { key, name } = await createService();
    const build = await deploy(key, await pack(name, program));
    expect(build.status).toBe("FAILED");
    expect(build.code).toMatch(/^[A-Z_]+$/);
    expect(build.detail).toContain(named);
    expect(build.log.at(-1)).toBe(`${build.code}: ${build.detail}`);
    expect((await read<{ items: Version[] }>(`/services/${key}/versions`)).items).toEqual([]);
    const repaired = await deploy(key, await pack(name));
    expect([repaired.version, repaired.status]).toEqual(["1.0.0", "SUCCEEDED"]);
  });

  test("says in the log why each execution will start a fresh interpreter, and how to avoid it", async () => {
    const { key, name } = await createService();
    const build = await deploy(key, await pack(name, `import os\nPIPE = os.pipe()\n${PROGRAM}`));
    expect(build.status).toBe("SUCCEEDED");
    expect(build.log).toContain(
      "Each execution starts a fresh interpreter, which is slower: A pipe is still open after the import; open it inside run() to get fast starts.",
    );
    const version = await instance.stores.versions.findLatest(owner.organizationId, key);
    expect(version?.startMode).toBe("spawn");
  });

  test("fails when no worker that lives has what the project asks for, and names the largest", async () => {
    const { key, name } = await createService();
    const small = [
      { cpu: 2, memory: 4 },
      { cpu: 1, memory: 2 },
      { cpu: 1, memory: 64 },
    ];
    await setWorkers(...small);
    const build = await deploy(key, await pack(name, PROGRAM, { resources: { cpu: 2, memory: 8 } }));
    expect(build).toMatchObject({ status: "FAILED", code: "INVALID_PROJECT" });
    expect(build.detail).toContain("2 vCPU and 8 GB");
    expect(build.detail).toContain("2 vCPU and 4 GB, or 1 vCPU and 64 GB");
    await setWorkers(...small, { cpu: 64, memory: 64 });
    expect(
      await deploy(key, await pack(name, `${PROGRAM}# more\n`, { resources: { cpu: 64 } })),
    ).toMatchObject({
      status: "SUCCEEDED",
    });
  });

  test("goes live while no worker runs, and the log says what its executions wait for", async () => {
    const { key, name } = await createService();
    await setWorkers();
    const build = await deploy(key, await pack(name, PROGRAM, { resources: { cpu: 64, memory: 8 } }));
    expect(build.status).toBe("SUCCEEDED");
    expect(build.log.join("\n")).toContain(
      "No worker is running at present; executions wait for one with 64 vCPU and 8 GB.",
    );
  });

  test("fails when the input would break callers within the major, unless forced or made a new major", async () => {
    const { key, name } = await createService();
    await deploy(key, await pack(name, typed("int")));
    const refused = await deploy(key, await pack(name, typed("str")));
    expect(refused).toMatchObject({ status: "FAILED", version: "1.0.1" });
    expect(refused.detail).toContain("/data/n was integer and is now string");
    expect(await deploy(key, await pack(name, typed("str")), "?bump=major")).toMatchObject({
      status: "SUCCEEDED",
      version: "2.0.0",
    });
    const forced = await deploy(key, await pack(name, typed("bool")), "?force=true");
    expect(forced).toMatchObject({ status: "SUCCEEDED", version: "2.0.1" });
  });

  test.each([
    ["minimum", '{"properties": {"n": {"minimum": "a"}}}', "a limit that is not a number", true],
    ["itself", '{"anyOf": [{"$ref": "#/properties/data"}]}', "refers to itself", true],
    ["nesting", "nest(150)", "deeper than 100 levels", false],
    ["a null character", '{"enum": ["a\\0b"]}', "null character", false],
  ])(
    "says that input is not checked early by a schema with %s, and goes live",
    async (_what, schema, why, isKept) => {
      const { key, name } = await createService();
      const build = await deploy(key, await pack(name, modelled(schema)));
      expect(build.status).toBe("SUCCEEDED");
      expect(build.log.join("\n")).toContain(why);
      const { items } = await read<{ items: Version[] }>(`/services/${key}/versions`);
      expect(items[0]?.inputSchema !== null).toBe(isKept);
      const started = await instance.api.inject({
        method: "POST",
        url: `/api/jobs?serviceKey=${key}`,
        headers: { authorization: `Bearer ${owner.token}`, "content-type": "application/json" },
        payload: '{"data":{"n":5}}',
      });
      expect(started.statusCode).toBe(201);
    },
  );

  test("is taken by another builder when the one that had it vanished, and given up after three", async () => {
    const { key, name } = await createService();
    await upload(key, await pack(name));
    for (let attempt = 1; attempt <= 2; attempt++) {
      const claim = await instance.stores.builds.claim(`vanished-${attempt}`, 0);
      expect(claim?.attempt).toBe(attempt);
    }
    expect(await buildAll(key, "1.0.0")).toMatchObject({ status: "SUCCEEDED" });

    await upload(key, await pack(name, `${PROGRAM}# again\n`));
    for (let attempt = 1; attempt <= 3; attempt++) await instance.stores.builds.claim("vanished", 0);
    expect(await buildAll(key, "1.0.1")).toMatchObject({ status: "FAILED", code: "WORKER_LOST" });
  });

  test("keeps its lease while it runs longer than that, and is not run twice", async () => {
    const { key, name } = await createService();
    await upload(key, await pack(name, "import time\ntime.sleep(5)\ndef run(): pass\n"));
    const logger = createRecordingLogger();
    const builders = ["a", "b"].map((workerId) =>
      createBuilder({ ...deps, logger, workerId }, { leaseSeconds: 2, pollMs: 100 }),
    );
    await waitUntil(async () => (await readBuild(key, "1.0.0")).terminal);
    await Promise.all(builders.map((builder) => builder.drain()));
    const build = await readBuild(key, "1.0.0");
    expect(build.status).toBe("SUCCEEDED");
    expect(build.log.filter((line) => line === "Building version 1.0.0")).toHaveLength(1);
  });

  test("is stopped before its lease ends when the lease cannot be renewed, and nothing is written of it", async () => {
    const { key, name } = await createService();
    await upload(key, await pack(name));
    const leaseSeconds = 3;
    const times = { asked: 0, stopped: 0 };
    const builds: BuilderDeps["builds"] = {
      ...instance.stores.builds,
      renew: () => Promise.reject(new Error("the store is away")),
      claim: async (...given) => {
        const asked = readMonotonic();
        const claim = await instance.stores.builds.claim(...given);
        if (claim !== null) times.asked = asked;
        return claim;
      },
    };
    const hanging: EnvironmentBuilder = {
      ...environments,
      ensure: (_directory, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => {
            times.stopped = readMonotonic();
            reject(signal.reason);
          });
        }),
    };
    const builder = createBuilder({ ...deps, builds, environments: hanging }, { leaseSeconds, pollMs: HOUR });
    await waitUntil(() => times.stopped > 0);
    expect(times.stopped - times.asked).toBeLessThan(leaseSeconds * SECOND);
    await builder.drain();
    expect(await readBuild(key, "1.0.0")).toMatchObject({ status: "RUNNING" });
    expect(await buildAll(key, "1.0.0")).toMatchObject({ status: "SUCCEEDED" });
  });

  test("is put back by a builder that closes, however often, and made by the next", async () => {
    const { key, name } = await createService();
    await upload(key, await pack(name, "import time\ntime.sleep(3)\ndef run(): pass\n"));
    for (let stops = 0; stops < 3; stops++) {
      const closing = createBuilder(deps, { leaseSeconds: 600 });
      await waitUntil(async () => (await readBuild(key, "1.0.0")).status === "RUNNING");
      await closing.close();
      expect((await readBuild(key, "1.0.0")).status).toBe("PENDING");
    }
    expect(await buildAll(key, "1.0.0")).toMatchObject({ status: "SUCCEEDED" });
  });

  test("is given up at once by a builder that closes while the module is still being imported", async () => {
    const { key, name } = await createService();
    await upload(key, await pack(name, "import time\ntime.sleep(45)\ndef run(): pass\n"));
    const closing = createBuilder(deps, { leaseSeconds: 1 });
    const isLoading = async () => (await readBuild(key, "1.0.0")).log.includes("Loading src/program.py");
    await waitUntil(isLoading);
    const isClosed = closing.close().then(() => true);
    expect(await Promise.race([isClosed, delay(20 * SECOND, false, { ref: false })])).toBe(true);
    expect((await readBuild(key, "1.0.0")).terminal).toBe(false);
    await home.database.query({
      text: "update build set status = 'FAILED', failure_code = 'BUILD_CANCELLED', ended_at = now(), lease_until = null where service_key = $1",
      values: [key],
    });
  });

  describe("is refused at the door", () => {
    test("for what is no archive, an empty body, another type", async () => {
      const { key } = await createService();
      expect((await upload(key, Buffer.from("no zip"))).json()).toMatchObject({ code: "INVALID_ARCHIVE" });
      const json = await instance.api.inject({
        method: "POST",
        url: `/api/services/${key}/versions`,
        headers: { authorization: `Bearer ${owner.token}`, "content-type": "application/json" },
        payload: "{}",
      });
      expect(json.json()).toMatchObject({ code: "UNSUPPORTED_MEDIA_TYPE" });
      expect((await upload(key, Buffer.alloc(0))).json()).toMatchObject({ code: "INVALID_ARCHIVE" });
    });

    test("for a project of another name", async () => {
      const { key } = await createService();
      const response = await upload(key, await pack("another-name"));
      expect(response.json()).toMatchObject({ code: "INVALID_PROJECT", errors: [{ path: "/name" }] });
    });

    test("and leaves nothing behind: no object, no unpacked folder, for another name, damage or unchanged content", async () => {
      const { key, name } = await createService();
      const live = await pack(name, returning(1));
      await deploy(key, live);
      const before = await listStored();
      expect((await upload(key, await pack("another-name"))).statusCode).toBe(400);
      expect((await upload(key, live)).statusCode).toBe(200);
      const damaged = Buffer.from(await pack(name, returning(2)));
      damaged.writeUInt8(damaged.readUInt8(60) ^ 0xff, 60);
      expect((await upload(key, damaged)).statusCode).toBe(400);
      expect((await upload(key, await pack(name, returning(3)), "?version=1.0.0")).statusCode).toBe(409);
      expect(await listStored()).toEqual(before);
    });

    test("while the disk is low, with 503 and when to try again; builds that wait go on waiting", async () => {
      const { key, name } = await createService();
      const archive = await pack(name, returning(5));
      const low = await watchDisk({
        directory,
        floorBytes: 2 ** 60,
        reserve: null,
        logger: createRecordingLogger(),
      });
      expect((await upload(key, await pack(name, returning(6)))).statusCode).toBe(201);
      disk = low;
      const refused = await upload(key, archive);
      expect([refused.statusCode, refused.json().code, refused.headers["retry-after"]]).toEqual([
        503,
        "UNAVAILABLE",
        "30",
      ]);
      expect(await guardBuilds(instance.stores.builds, low).claim("builder", 60)).toBeNull();
      await low.close();
      disk = null;
      expect((await buildAll(key, "1.0.0")).status).toBe("SUCCEEDED");
    });

    test("by the control role alone, which never unpacks: that is the builder's", async () => {
      const { key, name } = await createService();
      const before = await readdir(join(directory, "versions"));
      expect((await upload(key, await pack(name, returning(4)))).statusCode).toBe(201);
      expect(await readdir(join(directory, "versions"))).toEqual(before);
      await buildAll(key, "1.0.0");
      expect((await readdir(join(directory, "versions"))).length).toBe(before.length + 1);
    });

    test("for more bytes than the limit, announced or not, with an answer that arrives", async () => {
      const { key } = await createService();
      const address = await instance.api.listen({ host: "127.0.0.1", port: 0 });
      const url = `${address}/api/services/${key}/versions`;
      const headers = { authorization: `Bearer ${owner.token}`, "content-type": "application/zip" };
      const big = Buffer.alloc(3_000_000);
      const announced = await fetch(url, { method: "POST", headers, body: big });
      expect(announced.status).toBe(413);
      expect(await announced.json()).toMatchObject({ code: "ARCHIVE_TOO_LARGE" });
      const chunked = await fetch(url, {
        method: "POST",
        headers,
        body: new Blob([big]).stream(),
        duplex: "half",
      });
      expect(chunked.status).toBe(413);
      expect(await chunked.json()).toMatchObject({ code: "ARCHIVE_TOO_LARGE" });
      expect(await readdir(join(directory, "objects", "incoming"))).toEqual([]);
    });
  });
});
