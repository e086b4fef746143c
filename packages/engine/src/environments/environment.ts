import { ProjectError } from "../project/project-error.ts";
import { describeBase, findEnvironment, prepareDirectory } from "./environment-folders.ts";
import type { Environment } from "./environment-folders.ts";
import { createKey } from "./environment-key.ts";
import { completeSettings } from "./environment-settings.ts";
import type { EnvironmentBuilderOptions, EnvironmentSettings } from "./environment-settings.ts";
import { describeRequirements, hashRequirements, readRequirements } from "./requirements.ts";
import { createCancelled, startBuild, waitForBuild } from "./shared-build.ts";
import type { SharedBuild, Waiting, Wanted } from "./shared-build.ts";

/** Who needs an environment, and how the caller follows its build. */
export interface EnsureOptions extends Waiting {
  /** Id of the organisation that owns the environment. Owners share only environments of wheels that are pinned by hash. */
  readonly owner: string;
  /** Whether the project asks for packages to be built from source where they have no wheel; default false. */
  readonly sourceBuilds?: boolean;
}

/** What an environment was made of, for people: equal requirements have the same hash on every machine. */
export interface BuiltWith {
  /** See `hashRequirements`. */
  readonly requirementsHash: string;
  /** Version of the interpreter. */
  readonly python: string;
  /** Canonical text of what is installed, then of the constraints below a line `# constraints`; without secrets of addresses. */
  readonly requirements: string;
}

/** An environment that is there. */
interface ReadyEnvironment extends Environment {
  readonly built: BuiltWith;
}

/** Builds and finds the Python environments of projects; one per process. */
export interface EnvironmentBuilder {
  /**
   * The environment for a project, built unless it exists.
   *
   * @throws ProjectError INVALID_PROJECT, BUILD_FAILED, BUILD_TIMEOUT, BUILD_CANCELLED
   */
  readonly ensure: (projectDirectory: string, options: EnsureOptions) => Promise<ReadyEnvironment>;
  /** Kills running builds and waits for their folders to be removed. */
  readonly close: () => Promise<void>;
}

/** Creates the environment builder of one process; several processes may share a directory. */
export function createEnvironmentBuilder(options: EnvironmentBuilderOptions): EnvironmentBuilder {
  const builder: Builder = {
    settings: completeSettings(options),
    builds: new Map(),
    closing: new AbortController(),
  };
  return {
    ensure: (projectDirectory, ensureOptions) => ensure(builder, projectDirectory, ensureOptions),
    close: async () => {
      builder.closing.abort();
      const running = [...builder.builds.values()];
      for (const build of running) build.stop(createCancelled());
      await Promise.allSettled(running.map((build) => build.result));
    },
  };
}

interface Builder {
  readonly settings: EnvironmentSettings;
  /** By the environment's key. */
  readonly builds: Map<string, SharedBuild>;
  /** Aborted by `close`: no build starts afterwards. */
  readonly closing: AbortController;
}

async function ensure(
  builder: Builder,
  projectDirectory: string,
  options: EnsureOptions,
): Promise<ReadyEnvironment> {
  const { settings } = builder;
  const { interpreter } = settings;
  const { sourceBuilds = false } = options;
  const requirements = await readRequirements(projectDirectory, interpreter);
  const built = {
    requirementsHash: hashRequirements(requirements),
    python: interpreter.version,
    requirements: describeRequirements(requirements),
  };
  if (requirements === null) return { ...describeBase(interpreter), built };
  if (sourceBuilds && !settings.allowsSourceBuilds) throw createForbidden();
  if (!sourceBuilds && requirements.sourceFault !== null) throw requirements.sourceFault;
  const owner = requirements.isPinned && !sourceBuilds ? null : options.owner;
  const key = createKey(interpreter, requirements, { owner, sourceBuilds });
  const wanted = { projectDirectory, requirements, owner, sourceBuilds, key };
  return { ...(await provide(builder, wanted, options)), built };
}

function createForbidden(): ProjectError {
  const message =
    "sourceBuilds is true, but this platform installs wheels only, by its settings or because of its isolation level C. Remove it, or ask the operator of the platform.";
  const errors = [{ path: "/sourceBuilds", message }];
  return new ProjectError("INVALID_PROJECT", `platform.json: ${message}`, { errors });
}

async function provide(builder: Builder, wanted: Wanted, waiting: Waiting): Promise<Environment> {
  const { settings, builds } = builder;
  const existing = builds.has(wanted.key) ? null : await findEnvironment(settings, wanted.key);
  if (existing !== null) return existing;
  if (waiting.signal?.aborted === true) throw createCancelled();
  const build = builds.get(wanted.key) ?? (await start(builder, wanted));
  if (!build.isStopped()) return waitForBuild(build, waiting);
  // All its callers gave up: that build is ending, so a new one is started.
  await build.result.catch(() => undefined);
  return provide(builder, wanted, waiting);
}

async function start({ settings, builds, closing }: Builder, wanted: Wanted): Promise<SharedBuild> {
  const { key } = wanted;
  await prepareDirectory(settings);
  // Another caller may have started the build during the preparation.
  const other = builds.get(key);
  if (other !== undefined) return other;
  if (closing.signal.aborted) throw createCancelled();
  const build = startBuild(settings, wanted);
  const forget = () => void builds.delete(key);
  build.result.then(forget, forget);
  builds.set(key, build);
  return build;
}
