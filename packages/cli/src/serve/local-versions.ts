import { rm } from "node:fs/promises";
import { join } from "node:path";
import { withoutExactNumbers } from "@platform/contract/exact-number";
import { isExternal, readKind } from "@platform/contract/project";
import type { Project, Resources } from "@platform/contract/project";
import { acceptSchemas } from "@platform/engine/input-schema/accept-schemas";
import { readExampleTexts } from "@platform/engine/input-schema/example-input";
import type { ExampleTexts } from "@platform/engine/input-schema/example-input";
import type { ReceiptVersion } from "@platform/engine/executions/receipt";
import { hashFiles } from "@platform/engine/project/content-hash";
import type { VersionSource } from "@platform/engine/store/execution-store";
import type { EnvironmentBuilder } from "@platform/engine/environments/environment";
import { renewEnvironment } from "@platform/engine/environments/environment-folders";
import type { Environment } from "@platform/engine/environments/environment-folders";
import { readProject } from "@platform/engine/project/read-project";
import { SLOW_START_NOTE } from "@platform/engine/python/port/runtime";
import type { Probe, PythonRuntime, RunnableVersion } from "@platform/engine/python/port/runtime";
import { readVersionSettings, toRunnableVersion } from "@platform/engine/versions/runnable-version";
import type { VersionTarget } from "@platform/engine/versions/runnable-version";
import { readEnvironmentFile } from "./environment-file.ts";
import { copyProject } from "./snapshot.ts";

/*
 * Each reload creates a version: an id, a copy of the project's files, and a zygote.
 *
 * Executions finish with the code they started with. The folder of a version is kept while the version is one of the newest two (a
 * request may just have been accepted for the older one), and while it has unfinished executions.
 */

/** One version of the project. */
export interface LoadedVersion {
  /** Content of platform.json. */
  readonly project: Project;
  /** The version as executions refer to it. */
  readonly target: VersionTarget;
  /** Why the module could not be loaded: each execution fails with it. Null if it was loaded. */
  readonly failure: Extract<Probe, { readonly ok: false }> | null;
  /** As it is shown: with all digits of its numbers, which that of the target has not. */
  readonly inputSchema: VersionTarget["inputSchema"];
  /** What the project's author tries it with. */
  readonly example: {
    readonly texts: ExampleTexts;
    /** Why there is none on a platform. */
    readonly faults: readonly string[];
  };
}

/** The versions of the served project. */
export interface LocalVersions extends VersionSource {
  /**
   * Creates a version of the current project, even if its module cannot be imported (`failure`).
   *
   * @throws ProjectError if the project or its requirements are invalid, UserError if .env cannot be read; the previous version then stays current
   */
  readonly load: () => Promise<LoadedVersion>;
  /** What receipts say of a version, also of one whose code is not kept any more. */
  readonly describeForReceipt: (versionId: string) => ReceiptVersion | undefined;
  /** The newest version. Waits for a running `load`, so that an edit that was saved is used. */
  readonly current: () => Promise<LoadedVersion>;
  /** Writes that the environments of all versions that are kept are used: others are removed (environment-collection.ts). */
  readonly renew: () => Promise<void>;
}

/** The project, and what it is run with. */
export interface LocalVersionsOptions {
  /** Absolute. */
  readonly projectDirectory: string;
  /** Paths, relative to the project, that do not belong to it. */
  readonly exclude: readonly string[];
  /** Absolute; an existing folder for the copies, not used for anything else. */
  readonly versionsDirectory: string;
  readonly environments: EnvironmentBuilder;
  readonly runtime: PythonRuntime;
  /** Resources of the machine. A project that requests more gets all of them. */
  readonly capacity: Resources;
  /** Whether the version has executions that are not final. */
  readonly hasUnfinished: (versionId: string) => Promise<boolean>;
  /** Called with each line of the build log. */
  readonly onBuildLine: (line: string) => void;
  /** Aborts builds. */
  readonly signal: AbortSignal;
}

interface KeptVersion {
  readonly runnable: RunnableVersion;
  readonly environment: Environment;
  readonly loaded: LoadedVersion;
  readonly receipt: ReceiptVersion;
}

/** Number of newest versions that are kept even without executions. */
const KEPT_VERSIONS = 2;

/** Starts without a version: `load` must succeed once before `current` is called. */
export function createLocalVersions(options: LocalVersionsOptions): LocalVersions {
  const kept = new Map<string, KeptVersion>();
  const described = new Map<string, ReceiptVersion>();
  let count = 0;
  let newest: LoadedVersion | null = null;
  let loading: Promise<unknown> = Promise.resolve();

  const load = async (): Promise<LoadedVersion> => {
    const id = `local-${(count += 1)}`;
    const directory = join(options.versionsDirectory, id);
    try {
      const made = await make(id, directory, options);
      kept.set(id, made);
      described.set(id, made.receipt);
      newest = made.loaded;
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
    await removeOld();
    return newest;
  };

  const removeOld = async () => {
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
      // Loads run one after the other, so that the last edit becomes the newest version.
      const mine = loading.then(load, load);
      loading = mine.catch(() => undefined);
      return mine;
    },
    current: async () => {
      await loading;
      if (newest === null) throw new Error("no version was loaded before the first request");
      return newest;
    },
    renew: async () => {
      for (const { environment } of kept.values()) await renewEnvironment(environment);
    },
    describeForReceipt: (versionId) => described.get(versionId),
    prepare: async (versionId) => {
      const found = kept.get(versionId);
      if (found === undefined) throw new Error(`version ${versionId} was removed`);
      return found.runnable;
    },
  };
}

/** All projects of the developer have the same owner, so that equal requirements share one environment. */
const LOCAL_OWNER = "local";

async function readVariables(project: Project, { projectDirectory, onBuildLine }: LocalVersionsOptions) {
  const { values, notes } = await readEnvironmentFile(projectDirectory, project.variables ?? []);
  for (const note of notes) onBuildLine(note);
  return values;
}

async function make(id: string, directory: string, options: LocalVersionsOptions): Promise<KeptVersion> {
  const project = await readProject(options.projectDirectory);
  const variables = await readVariables(project, options);
  const paths = await copyProject(options.projectDirectory, directory, options.exclude);
  const environment = await options.environments.ensure(directory, {
    owner: LOCAL_OWNER,
    sourceBuilds: project.sourceBuilds ?? false,
    onLog: options.onBuildLine,
    signal: options.signal,
  });
  const { timeoutSeconds, ...settings } = readVersionSettings(project);
  const { resources } = settings;
  const runnable = { ...toRunnableVersion({ id, ...settings }, directory, environment), variables };
  const probe = await options.runtime.probe(runnable, readKind(project), options.signal);
  if (probe.ok && probe.startModeReason !== null)
    options.onBuildLine(`${SLOW_START_NOTE}: ${probe.startModeReason}`);
  const schemas = probe.ok ? acceptSchemas(probe) : null;
  for (const note of schemas?.notes ?? []) options.onBuildLine(note);
  const inputSchema = schemas?.inputSchema ?? null;
  const target: VersionTarget = {
    id,
    resources: {
      cpu: Math.min(resources.cpu, options.capacity.cpu),
      memory: Math.min(resources.memory, options.capacity.memory),
    },
    timeoutSeconds,
    ...(isExternal(project) ? { isExternal: true } : {}),
    inputSchema: withoutExactNumbers(inputSchema),
  };
  const receipt: ReceiptVersion = {
    service: project.name,
    version: "local",
    contentHash: await hashFiles(directory, paths),
    built: environment.built,
  };
  const example = await readExampleTexts(directory);
  const failure = probe.ok ? null : probe;
  return { runnable, environment, receipt, loaded: { project, target, failure, inputSchema, example } };
}
