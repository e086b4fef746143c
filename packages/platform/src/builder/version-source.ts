import type { EnvironmentBuilder } from "@platform/engine/project/environment";
import type { VersionSource } from "@platform/engine/ports";
import type { RunnableVersion } from "@platform/engine/python/runtime";
import type { VersionStore } from "../store/versions.ts";
import type { VersionFiles } from "./version-files.ts";

export interface VersionSourceDeps {
  readonly versions: Pick<VersionStore, "findById">;
  readonly files: VersionFiles;
  readonly environments: EnvironmentBuilder;
}

/** Versions never change, so what was prepared once is good until this process ends; the oldest make room. */
const MAX_PREPARED = 1_000;

/** Where a worker of the platform finds the code of a version: unpacked and with its environment, each made once. */
export function createVersionSource(deps: VersionSourceDeps): VersionSource {
  const prepared = new Map<string, Promise<RunnableVersion>>();
  return {
    prepare: (versionId) => {
      const known = prepared.get(versionId);
      if (known) return known;
      const preparing = prepare(deps, versionId);
      prepared.set(versionId, preparing);
      preparing.catch(() => prepared.delete(versionId));
      const [oldest] = prepared.keys();
      if (prepared.size > MAX_PREPARED && oldest !== undefined) prepared.delete(oldest);
      return preparing;
    },
  };
}

async function prepare(deps: VersionSourceDeps, versionId: string): Promise<RunnableVersion> {
  const version = await deps.versions.findById(versionId);
  if (!version) throw new Error(`There is no version ${versionId}.`);
  const projectDirectory = await deps.files.ensure(version);
  const { interpreter, readablePaths } = await deps.environments.ensure(projectDirectory);
  return {
    id: version.id,
    projectDirectory,
    interpreter,
    readablePaths,
    resources: version.resources,
    variables: {},
    startMode: version.startMode,
  };
}
