import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { Build } from "@platform/contract/platform-api/builds";
import type { ProjectKind, Resources } from "@platform/contract/project";
import { createEnvironmentBuilder } from "@platform/engine/environments/environment";
import { findInterpreter } from "@platform/engine/environments/interpreter";
import { packProject } from "@platform/engine/project/pack";
import { DEFAULT_NETWORK_POLICY } from "@platform/engine/python/sandbox/network/network-policy";
import { createMemoryStore } from "@platform/engine/store/memory-store";
import { writeFiles } from "@platform/engine/testing/project-fixtures";
import { createFixture } from "@platform/engine/testing/python-fixture";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createBuilder } from "../builder/builder.ts";
import type { BuilderDeps } from "../builder/builder.ts";
import type { DiskGuard } from "../disk/disk-guard.ts";
import { createLocalObjects } from "../objects/local-objects.ts";
import { createVersionFiles } from "../versions/version-files.ts";
import { createTestUser } from "./fixtures.ts";
import { createVariables } from "../secrets/variables.ts";
import { TEST_SECRET, createTestInstance } from "./instance.ts";
import { createRecordingLogger, createTestDatabase } from "./test-database.ts";

export const PROGRAM =
  "def run(data: dict, params: dict):\n    print('ran')\n    return {'sum': sum(data['values'])}\n";

export function returning(n: number): string {
  return `def run():\n    return ${n}\n`;
}

export function typed(hint: string): string {
  return `from typing import TypedDict\nclass Data(TypedDict):\n    n: ${hint}\ndef run(data: Data):\n    return {}\n`;
}

/** A model, as the runtime recognises one, that describes itself so. */
export function modelled(schema: string): string {
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

export type BuildScene = Awaited<ReturnType<typeof openBuildScene>>;

/** A platform API, an owner, and what a builder needs: uploads are really built, by whoever the test starts. */
export async function openBuildScene() {
  const home = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "builder-"));
  await chmod(directory, 0o755);
  const world: { disk: Pick<DiskGuard, "isLow"> | null } = { disk: null };
  const instance = await createTestInstance({
    database: home.database,
    directory,
    maxArchiveBytes: 1_000_000,
    isDiskLow: () => world.disk?.isLow() ?? false,
  });
  const owner = await createTestUser(instance);
  const python = await createFixture();
  const interpreter = await findInterpreter({ searchPath: "/usr/bin" });
  const environments = createEnvironmentBuilder({ directory: join(directory, "environments"), interpreter });
  const objects = createLocalObjects(join(directory, "objects"));
  const workers = createMemoryStore();
  const deps: BuilderDeps = {
    ...instance.stores,
    readVariables: createVariables(instance.stores.variables, TEST_SECRET).readOfService,
    files: createVersionFiles({ directory: join(directory, "versions"), objects }),
    environments,
    runtime: python.runtime,
    workers,
    network: { policy: DEFAULT_NETWORK_POLICY, missing: null },
    workerId: "builder-1",
    logger: createRecordingLogger(),
  };
  const setWorkers = createWorkerSetter(workers);
  await setWorkers({ cpu: 2, memory: 4 });
  const api = createApiCalls(instance.api, owner.token);
  let services = 0;
  const buildAll = async (key: string, version: string): Promise<Build> => {
    const builder = createBuilder(deps, { pollMs: 100 });
    await waitUntil(async () => (await api.readBuild(key, version)).terminal);
    await builder.drain();
    return api.readBuild(key, version);
  };
  return Object.assign(world, api, {
    home,
    instance,
    owner,
    python,
    directory,
    deps,
    setWorkers,
    buildAll,
    createService: async () => {
      const name = `service-${(services += 1)}`;
      const { key } = await instance.stores.services.create({
        organisationId: owner.organisationId,
        name,
        description: "",
      });
      return { key, name };
    },
    pack: async (
      name: string,
      program = PROGRAM,
      more: Readonly<Record<string, unknown>> = {},
      files: Readonly<Record<string, string>> = {},
    ) => {
      const folder = await mkdtemp(join(directory, "project-"));
      await writeFiles(folder, {
        "platform.json": JSON.stringify({ name, runtime: "PYTHON_TEMPLATE", ...more }),
        "src/__init__.py": "",
        "src/program.py": program,
        ...files,
      });
      return (await packProject(folder)).archive;
    },
    deploy: async (key: string, archive: Buffer, query = ""): Promise<Build> => {
      const response = await api.upload(key, archive, query);
      expect(response.statusCode).toBe(201);
      return buildAll(key, response.json<Build>().version);
    },
    listStored: async () => {
      const folders = ["objects", "versions"].map((folder) =>
        readdir(join(directory, folder), { recursive: true }),
      );
      return (await Promise.all(folders)).flat().toSorted();
    },
    close: async () => {
      await environments.close();
      await python.close();
      await instance.close();
      await home.close();
      await rm(directory, { recursive: true, force: true });
    },
  });
}

/** Says which workers live, up to nine. */
function createWorkerSetter(workers: ReturnType<typeof createMemoryStore>) {
  const report = {
    free: { cpu: 0, memory: 0 },
    excludedVersionIds: [],
    reservedId: null,
    reservesAfterSeconds: null,
  };
  return async (...all: readonly (Resources & { readonly kind?: ProjectKind })[]) => {
    for (let index = 0; index < 9; index++) await workers.leave(`worker-${index}`);
    for (const [index, { kind = "service", cpu, memory }] of all.entries())
      await workers.report({ ...report, kind, workerId: `worker-${index}`, capacity: { cpu, memory } });
  };
}

function createApiCalls(api: Awaited<ReturnType<typeof createTestInstance>>["api"], token: string) {
  const read = async <T>(path: string): Promise<T> => {
    const response = await api.inject({
      method: "GET",
      url: `/api${path}`,
      headers: { authorization: `Bearer ${token}` },
    });
    return response.json<T>();
  };
  return {
    read,
    readBuild: (key: string, version: string) => read<Build>(`/services/${key}/versions/${version}/build`),
    upload: (key: string, archive: Buffer, query = "") =>
      api.inject({
        method: "POST",
        url: `/api/services/${key}/versions${query}`,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/zip" },
        payload: archive,
      }),
  };
}
