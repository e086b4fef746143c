import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createEnvironmentBuilder } from "@platform/engine/environments/environment";
import { findInterpreter } from "@platform/engine/environments/interpreter";
import { packProject } from "@platform/engine/project/pack";
import { ProjectError } from "@platform/engine/project/project-error";
import { writeFiles } from "@platform/engine/testing/project-fixtures";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLocalObjects } from "../objects/local-objects.ts";
import { StoreUnavailable } from "../objects/object-store.ts";
import type { OwnedVersionRecord } from "../store/versions/versions.ts";
import { createVersionFiles } from "./version-files.ts";
import { createVersionSource } from "./version-source.ts";

let directory: string;
let close: () => Promise<void>;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "version-source-"));
  await chmod(directory, 0o755);
});

afterEach(async () => {
  await close();
  await rm(directory, { recursive: true, force: true });
});

/** A source with one version whose requirements are a package with this setup.py, unless they are given. */
async function createSource(setup: string, requirements = "./package\n") {
  const project = join(directory, "project");
  await writeFiles(project, {
    "platform.json": JSON.stringify({ name: "slow", runtime: "PYTHON_TEMPLATE", sourceBuilds: true }),
    "requirements.txt": requirements,
    "package/setup.py": setup,
    "src/__init__.py": "",
    "src/program.py": "def run(): ...\n",
  });
  const objects = createLocalObjects(join(directory, "objects"));
  const { archive, hash: contentHash } = await packProject(project);
  const received = await objects.receive(Readable.from([archive]), archive.byteLength);
  await received.keep();
  let fetchTo = objects.fetchTo;
  const files = createVersionFiles({
    directory: join(directory, "versions"),
    objects: { ...objects, fetchTo: (...given) => fetchTo(...given) },
  });
  const interpreter = await findInterpreter({ searchPath: "/usr/bin" });
  const environments = createEnvironmentBuilder({ directory: join(directory, "cache"), interpreter });
  close = environments.close;
  const version: OwnedVersionRecord = {
    id: randomUUID(),
    organisationId: randomUUID(),
    serviceKey: randomUUID(),
    version: "1.0.0",
    kind: "service",
    archiveHash: received.hash,
    contentHash,
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    startMode: "auto",
    network: null,
    output: null,
    inputSchema: null,
    outputSchema: null,
    description: "",
    createdAt: Date.now(),
    retiredAt: null,
    kept: { result: null, log: null },
    service: { key: randomUUID(), organisationId: randomUUID(), policy: {} },
  };
  const source = createVersionSource({ versions: { findById: async () => version }, files, environments });
  const listBuilds = async () => {
    const names = await readdir(join(directory, "cache", "environments")).catch(() => []);
    return names.filter((name) => !name.endsWith(".log"));
  };
  const loseStore = () => {
    fetchTo = () => Promise.reject(new StoreUnavailable("away"));
  };
  return { source, version, listBuilds, loseStore };
}

test("the build of an environment is stopped when the last execution that waits for it is given up", async () => {
  const { source, version, listBuilds } = await createSource("import time\ntime.sleep(3472)\n");
  const [first, second] = [new AbortController(), new AbortController()];
  const waiting = [first, second].map(({ signal }) =>
    source.prepare(version.id, signal).catch((error: unknown) => error),
  );
  await waitUntil(async () => (await listBuilds()).length === 1);
  first.abort();
  expect(await listBuilds()).toHaveLength(1);
  second.abort();
  for (const failure of await Promise.all(waiting)) expect(failure).toBeInstanceOf(Error);
  expect(await listBuilds()).toEqual([]);
});

test("what cannot be built again for a live version is not called the project's fault, and says why", async () => {
  const { source, version } = await createSource("raise SystemExit('the index is away')\n");
  const failure = await source
    .prepare(version.id, new AbortController().signal)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect(failure).not.toBeInstanceOf(ProjectError);
  expect((failure as Error).cause).toMatchObject({ code: "BUILD_FAILED" });
});

test("requirements that were accepted once and are no longer understood fail for good, with their line and what to do", async () => {
  const { source, version } = await createSource("", "--pre\nsix==1.16.0\n");
  const failure = await source
    .prepare(version.id, new AbortController().signal)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ProjectError);
  expect((failure as ProjectError).detail).toMatch(
    /^This version can no longer be installed; deploy a corrected one\. requirements\.txt, line 1: '--pre': .*\.$/,
  );
});

test("a store of archives that is away is the fault of no version and no worker", async () => {
  const { source, version, loseStore } = await createSource("", "");
  loseStore();
  await expect(source.prepare(version.id, new AbortController().signal)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    cause: { name: "StoreUnavailable" },
  });
});

test("requirements that this machine cannot read are not called the project's fault", async () => {
  const { source, version } = await createSource("", "-r absent.txt\n");
  await expect(source.prepare(version.id, new AbortController().signal)).rejects.not.toBeInstanceOf(
    ProjectError,
  );
});
