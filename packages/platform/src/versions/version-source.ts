import type { EnvironmentBuilder } from "@platform/engine/environments/environment";
import type { VersionSource } from "@platform/engine/store/execution-store";
import { ProjectError } from "@platform/engine/project/project-error";
import { isFaultOfText } from "@platform/engine/environments/requirements";
import type { RunnableVersion } from "@platform/engine/python/port/runtime";
import { toRunnableVersion } from "@platform/engine/versions/runnable-version";
import { createCache } from "@platform/engine/base/cache";
import { HOUR } from "@platform/engine/base/time";
import type { VersionStore } from "../store/versions/versions.ts";
import type { VersionFiles } from "./version-files.ts";

export interface VersionSourceDeps {
  readonly versions: Pick<VersionStore, "findById">;
  readonly files: VersionFiles;
  readonly environments: EnvironmentBuilder;
}

/** Versions never change, so what was prepared is good for as long as its files are in use; the oldest make room. */
const MAX_PREPARED = 1_000;
/** Then its files are looked at anew, so that the collector sees that they are used. */
const PREPARED_TTL_MS = 1 * HOUR;

/** A preparation under way; it is stopped when nobody waits for it any more. */
interface Flight {
  readonly result: Promise<RunnableVersion>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Where a worker of the platform finds the code of a version: unpacked and with its environment, each made once.
 *
 * A live version was accepted, built and probed before. That it cannot be made ready again (a package index that is away, a full
 * disk, a damaged archive) is not taken for its author's doing. The one ProjectError from here says that a line of its requirements is
 * not understood: the platform's rules became stricter since it was built, and no try on any worker will change that.
 */
export function createVersionSource(deps: VersionSourceDeps): VersionSource {
  const prepared = createCache<RunnableVersion>({ maxEntries: MAX_PREPARED, ttlMs: PREPARED_TTL_MS });
  const flights = new Map<string, Flight>();

  const takeOff = (versionId: string): Flight => {
    const controller = new AbortController();
    const result = prepare(deps, versionId, controller.signal);
    const flight: Flight = { result, controller, waiting: 0 };
    flights.set(versionId, flight);
    const land = () => {
      if (flights.get(versionId) === flight) flights.delete(versionId);
    };
    result
      .then(
        (version) => prepared.set(versionId, version),
        () => undefined,
      )
      .finally(land);
    return flight;
  };

  return {
    prepare: async (versionId, signal) => {
      const known = prepared.peek(versionId);
      if (known !== undefined) return known;
      signal.throwIfAborted();
      const flight = flights.get(versionId) ?? takeOff(versionId);
      flight.waiting += 1;
      const leave = () => {
        flight.waiting -= 1;
        if (flight.waiting > 0) return;
        // Whoever comes now begins anew.
        if (flights.get(versionId) === flight) flights.delete(versionId);
        flight.controller.abort(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      try {
        return await flight.result;
      } finally {
        signal.removeEventListener("abort", leave);
      }
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
    const environment = await deps.environments.ensure(projectDirectory, {
      owner: version.organisationId,
      signal,
    });
    return toRunnableVersion(version, projectDirectory, environment);
  } catch (error) {
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
