import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Project, Resources } from "@platform/contract/project";
import { acceptSchemas } from "@platform/engine/input-schema/accept-schemas";
import type { VersionSource } from "@platform/engine/store/execution-store";
import type { EnvironmentBuilder } from "@platform/engine/environments/environment";
import { readProject } from "@platform/engine/project/read-project";
import { SLOW_START_NOTE } from "@platform/engine/python/port/runtime";
import type { Probe, PythonRuntime, RunnableVersion } from "@platform/engine/python/port/runtime";
import { readVersionSettings, toRunnableVersion } from "@platform/engine/versions/runnable-version";
import type { VersionTarget } from "@platform/engine/versions/runnable-version";
import { copyProject } from "./snapshot.ts";

/*
 * Every state of the project that was served is a version of its own: a copy of the files, an id, a zygote.
 *
 * Executions of an edited version finish with the code they began with. A version's folder stays while it is the newest
 * or the one before (a request may have been let in a moment ago), and while executions of it are not finished.
 */

export interface LoadedVersion {
  readonly project: Project;
  readonly target: VersionTarget;
  /** Null when the module could be loaded; else what each execution ends with. */
  readonly fault: Extract<Probe, { readonly ok: false }> | null;
}

export interface LocalVersions extends VersionSource {
  /**
   * Makes a new version of the project as it is now. A module that cannot be imported is a version as well.
   *
   * @throws ProjectError when the project or its environment is at fault; the version before then stays
   */
  readonly load: () => Promise<LoadedVersion>;
  /** The newest version; waits for one that is being loaded, so that a saved edit counts. */
  readonly current: () => Promise<LoadedVersion>;
}

export interface LocalVersionsOptions {
  readonly projectDirectory: string;
  readonly exclude: readonly string[];
  /** Where the copies go: an existing folder of ours. */
  readonly versionsDirectory: string;
  readonly environments: EnvironmentBuilder;
  readonly runtime: PythonRuntime;
  /** What the machine has: a project that asks for more gets all of it. */
  readonly capacity: Resources;
  readonly hasUnfinished: (versionId: string) => Promise<boolean>;
  readonly onBuildLine: (line: string) => void;
  readonly signal: AbortSignal;
}

interface Kept {
  readonly runnable: RunnableVersion;
  readonly loaded: LoadedVersion;
}

/** How many versions back a request may still come from. */
const KEPT_VERSIONS = 2;

export function createLocalVersions(options: LocalVersionsOptions): LocalVersions {
  const kept = new Map<string, Kept>();
  let count = 0;
  let newest: LoadedVersion | null = null;
  let loading: Promise<unknown> = Promise.resolve();

  const load = async (): Promise<LoadedVersion> => {
    const id = `local-${(count += 1)}`;
    const directory = join(options.versionsDirectory, id);
    try {
      const made = await make(id, directory, options);
      kept.set(id, made);
      newest = made.loaded;
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
    await forgetOld();
    return newest;
  };

  const forgetOld = async () => {
    for (const [id, { runnable }] of [...kept].slice(0, -1)) {
      void options.runtime.retire(id);
      const isRecent = [...kept.keys()].slice(-KEPT_VERSIONS).includes(id);
      if (isRecent || (await options.hasUnfinished(id))) continue;
      kept.delete(id);
      await rm(runnable.projectDirectory, { recursive: true, force: true });
    }
  };

  return {
    load: async () => {
      // One after the other: the last edit must win.
      const mine = loading.then(load, load);
      loading = mine.catch(() => undefined);
      return mine;
    },
    current: async () => {
      await loading;
      if (newest === null) throw new Error("no version was loaded before the first request");
      return newest;
    },
    prepare: async (versionId) => {
      const found = kept.get(versionId);
      if (found === undefined) throw new Error(`version ${versionId} is gone`);
      return found.runnable;
    },
  };
}

/** One developer's own projects share what they have in common. */
const LOCAL_OWNER = "local";

async function make(id: string, directory: string, options: LocalVersionsOptions): Promise<Kept> {
  const project = await readProject(options.projectDirectory);
  await copyProject(options.projectDirectory, directory, options.exclude);
  const environment = await options.environments.ensure(directory, {
    owner: LOCAL_OWNER,
    onLog: options.onBuildLine,
    signal: options.signal,
  });
  const { resources, timeoutSeconds, startMode } = readVersionSettings(project);
  const runnable = toRunnableVersion({ id, resources, startMode }, directory, environment);
  const probe = await options.runtime.probe(runnable);
  if (probe.ok && probe.startModeReason !== null)
    options.onBuildLine(`${SLOW_START_NOTE}: ${probe.startModeReason}`);
  const schemas = probe.ok ? acceptSchemas(probe) : null;
  for (const note of schemas?.notes ?? []) options.onBuildLine(note);
  const target: VersionTarget = {
    id,
    resources: {
      cpu: Math.min(resources.cpu, options.capacity.cpu),
      memory: Math.min(resources.memory, options.capacity.memory),
    },
    timeoutSeconds,
    inputSchema: schemas?.inputSchema ?? null,
  };
  return { runnable, loaded: { project, target, fault: probe.ok ? null : probe } };
}
