import { Problem } from "@platform/contract/problems";
import type { EnvironmentBuilder } from "@platform/engine/environments/environment";
import type { VersionSource } from "@platform/engine/store/execution-store";
import { ProjectError } from "@platform/engine/project/project-error";
import { readProject } from "@platform/engine/project/read-project";
import { isFaultOfText } from "@platform/engine/environments/requirements";
import type { RunnableVersion } from "@platform/engine/python/port/runtime";
import { toRunnableVersion } from "@platform/engine/versions/runnable-version";
import { createCache } from "@platform/engine/base/cache";
import { shareWork } from "@platform/engine/base/shared-work";
import type { SharedWork } from "@platform/engine/base/shared-work";
import { HOUR } from "@platform/engine/base/time";
import { StoreUnavailable } from "../objects/object-store.ts";
import type { VersionStore } from "../store/versions/versions.ts";
import type { VersionFiles } from "./version-files.ts";

/** What versions are prepared with. */
export interface VersionSourceDeps {
  readonly versions: Pick<VersionStore, "findById">;
  readonly files: VersionFiles;
  readonly environments: EnvironmentBuilder;
}

/** Number of cached versions. Versions never change, so they stay valid as long as their files are kept. */
const MAX_PREPARED = 1_000;
/** After this time a version is prepared again, which marks its files as used for garbage collection. */
const PREPARED_TTL_MS = 1 * HOUR;

/**
 * Prepares versions for a worker: unpacks the project and builds its environment, each once.
 *
 * A live version was accepted, built and probed before, so a failure to prepare it again (an unreachable package index, a
 * full disk, a damaged archive) does not count as an error of the project. The only ProjectError thrown says that a line of
 * its requirements is not understood: the platform's rules became stricter since the build, and no worker can prepare it.
 */
export function createVersionSource(deps: VersionSourceDeps): VersionSource {
  const prepared = createCache<RunnableVersion>({ maxEntries: MAX_PREPARED, ttlMs: PREPARED_TTL_MS });
  const preparations = new Map<string, SharedWork<RunnableVersion>>();

  const start = (versionId: string): SharedWork<RunnableVersion> => {
    const preparation = shareWork(({ signal }) => prepare(deps, versionId, signal));
    preparations.set(versionId, preparation);
    const forget = () => {
      if (preparations.get(versionId) === preparation) preparations.delete(versionId);
    };
    preparation.result
      .then(
        (version) => prepared.set(versionId, version),
        () => undefined,
      )
      .finally(forget);
    return preparation;
  };

  return {
    prepare: async (versionId, signal) => {
      const known = prepared.peek(versionId);
      if (known !== undefined) return known;
      signal.throwIfAborted();
      const running = preparations.get(versionId);
      const preparation = running === undefined || running.isStopped() ? start(versionId) : running;
      return preparation.join(signal);
    },
  };
}

async function prepare(
  deps: VersionSourceDeps,
  versionId: string,
  signal: AbortSignal,
): Promise<RunnableVersion> {
  const version = await deps.versions.findById(versionId);
  if (!version) throw new Error(`There is no version ${versionId}.`);
  try {
    signal.throwIfAborted();
    const projectDirectory = await deps.files.ensure(version);
    const { sourceBuilds = false } = await readProject(projectDirectory);
    const environment = await deps.environments.ensure(projectDirectory, {
      owner: version.organisationId,
      sourceBuilds,
      signal,
    });
    return toRunnableVersion(version, projectDirectory, environment);
  } catch (error) {
    // The fault of no worker: it runs what is unpacked here.
    if (error instanceof StoreUnavailable) throw new Problem("UNAVAILABLE", undefined, { cause: error });
    if (!(error instanceof ProjectError)) throw error;
    if (isFaultOfText(error))
      throw new ProjectError(
        "INVALID_PROJECT",
        `This version can no longer be installed; deploy a corrected one. ${error.detail}`,
        { cause: error },
      );
    throw new Error(`The live version ${versionId} could not be made ready again: ${error.detail}`, {
      cause: error,
    });
  }
}
