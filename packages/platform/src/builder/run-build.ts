import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { withoutExactNumbers } from "@platform/contract/exact-number";
import { readKind } from "@platform/contract/project";
import type { Project, ProjectKind, Resources } from "@platform/contract/project";
import { acceptSchemas } from "@platform/engine/input-schema/accept-schemas";
import { readExampleInput } from "@platform/engine/input-schema/example-input";
import { findLargest, fits, formatResources } from "@platform/engine/base/capacity";
import type { WorkerRegistry } from "@platform/engine/store/execution-store";
import type { BuiltWith, EnvironmentBuilder } from "@platform/engine/environments/environment";
import { ProjectError } from "@platform/engine/project/project-error";
import { readProject } from "@platform/engine/project/read-project";
import { SLOW_START_NOTE } from "@platform/engine/python/port/runtime";
import type { Probe, PythonRuntime, RunnableVersion } from "@platform/engine/python/port/runtime";
import { readVersionSettings, toRunnableVersion } from "@platform/engine/versions/runnable-version";
import { untilAborted } from "@platform/engine/base/until-aborted";
import { createUuidV7 } from "@platform/engine/base/uuid";
import type { BuildClaim, BuildOutcome } from "../store/builds/builds.ts";
import type { BackendVersion, ExampleInput, VersionStore } from "../store/versions/versions.ts";
import { acceptDescription } from "./backend-description.ts";
import { findNetworkFault } from "./build-network.ts";
import type { BuildNetwork } from "./build-network.ts";
import { checkUpgrade } from "./upgrade-check.ts";
import type { RunVariables } from "../secrets/variables.ts";
import { addVariables } from "../versions/with-variables.ts";
import type { VersionFiles } from "../versions/version-files.ts";

/** What builds are run with. */
export interface BuildDeps {
  readonly versions: VersionStore;
  /** Names and values of what the version's runs will get; an import may need them as well. */
  readonly readVariables: (serviceKey: string) => Promise<RunVariables>;
  readonly files: VersionFiles;
  readonly environments: EnvironmentBuilder;
  readonly runtime: Pick<PythonRuntime, "probe">;
  /** For the capacities of the living workers. */
  readonly workers: Pick<WorkerRegistry, "listWorkers">;
  readonly network: BuildNetwork;
}

/** One run of a build. */
export interface BuildRun {
  readonly claim: BuildClaim;
  /** Called with each line of the log. */
  readonly onLog: (line: string) => void;
  /** Stops the run. */
  readonly signal: AbortSignal;
}

type Failure = Extract<BuildOutcome, { status: "FAILED" }>;

const MAX_DESCRIPTION_BYTES = 256 * 1024;

/**
 * Makes a version from an archive: unpacks it, installs its requirements, loads the module, and compares its input with
 * what callers send (upgrade-check.ts). Errors of the project are an outcome; everything else is thrown.
 */
export async function runBuild(deps: BuildDeps, { claim, onLog, signal }: BuildRun): Promise<BuildOutcome> {
  try {
    onLog(`Building version ${claim.version}`);
    const directory = await deps.files.ensure(claim);
    const project = await readProject(directory);
    const settings = readVersionSettings(project);
    const networkFault = findNetworkFault(deps.network, settings.network, onLog);
    if (networkFault !== null) return fail("INVALID_PROJECT", networkFault);
    const kind = readKind(project);
    const room = { kind, capacities: await deps.workers.listWorkers(kind) };
    const refusal = findResourceFailure(settings.resources, room, onLog);
    if (refusal) return refusal;
    const environment = await deps.environments.ensure(directory, {
      owner: claim.organisationId,
      sourceBuilds: project.sourceBuilds ?? false,
      onLog,
      signal,
    });
    onLog("Loading src/program.py");
    const version = toRunnableVersion({ id: createUuidV7(), ...settings }, directory, environment);
    const variables = await readVariables(deps, claim.serviceKey);
    noteMissing(project, variables, onLog);
    const importable = addVariables(version, variables);
    // A build that is stopped does not wait until the processes have ended, which are killed then.
    const probe = await untilAborted(deps.runtime.probe(importable, kind, signal), signal);
    if (!probe.ok) return describeProbeFailure(probe, onLog);
    if (probe.startModeReason !== null) onLog(`${SLOW_START_NOTE}: ${probe.startModeReason}`);
    const backend = readBackend(project, probe);
    const schemas = acceptSchemas(probe);
    for (const note of schemas.notes) onLog(note);
    const fault = await checkUpgrade(deps.versions, {
      claim,
      schema: withoutExactNumbers(schemas.inputSchema),
      onLog,
    });
    if (fault !== null) return fail("INVALID_PROJECT", fault);
    const exampleInput = await readExampleInput(directory, onLog);
    const made = { claim, project, version, built: environment.built, exampleInput, backend };
    return await succeed(made, { ...probe, ...schemas });
  } catch (error) {
    if (!(error instanceof ProjectError)) throw error;
    for (const { path, message } of error.errors)
      onLog(message.startsWith(path) ? message : `${path}: ${message}`);
    return fail(error.code, error.detail);
  }
}

/** @throws ProjectError BACKEND_NOT_DESCRIBED */
function readBackend(
  { backend }: Project,
  { description }: Extract<Probe, { ok: true }>,
): BackendVersion | null {
  return backend === undefined
    ? null
    : { ...backend, description: acceptDescription(withoutExactNumbers(description)) };
}

/** A secret that does not open is the service's to set again, which the cause of the error says; a try again would not help. */
async function readVariables(deps: BuildDeps, serviceKey: string): Promise<RunVariables> {
  try {
    return await deps.readVariables(serviceKey);
  } catch (error) {
    throw error instanceof Error && error.cause instanceof ProjectError ? error.cause : error;
  }
}

/** Only a note: the first version is built before its service has secrets. */
function noteMissing(project: Project, { values }: RunVariables, onLog: (line: string) => void): void {
  for (const name of project.variables ?? [])
    if (!Object.hasOwn(values, name))
      onLog(
        `platform.json declares ${name}, which is not set: platform secrets set ${name}, or platform variables set ${name}`,
      );
}

interface Made {
  readonly claim: BuildClaim;
  readonly project: Project;
  readonly version: RunnableVersion;
  readonly built: BuiltWith;
  readonly exampleInput: ExampleInput | null;
  readonly backend: BackendVersion | null;
}

async function succeed(
  { claim, project, version, built, exampleInput, backend }: Made,
  probe: Extract<Probe, { ok: true }>,
): Promise<BuildOutcome> {
  return {
    status: "SUCCEEDED",
    version: {
      id: version.id,
      serviceKey: claim.serviceKey,
      version: claim.version,
      archiveHash: claim.archiveHash,
      contentHash: claim.contentHash,
      resources: version.resources,
      timeoutSeconds: readVersionSettings(project).timeoutSeconds,
      startMode: version.startMode === "spawn" || probe.startMode === "spawn" ? "spawn" : "auto",
      network: version.network,
      output: version.output,
      inputSchema: probe.inputSchema,
      outputSchema: probe.outputSchema,
      built,
      exampleInput,
      backend,
      description: await readDescription(version.projectDirectory, project),
    },
  };
}

function fail(code: string, detail: string): Failure {
  return { status: "FAILED", code, detail };
}

/** Without a living worker nothing can be compared: the version goes live, and its executions wait for a worker large enough. */
function findResourceFailure(
  wanted: Resources,
  { kind, capacities }: { readonly kind: ProjectKind; readonly capacities: readonly Resources[] },
  onLog: (line: string) => void,
): Failure | null {
  const isBackend = kind === "backend";
  if (capacities.length === 0) {
    const none = isBackend ? "No worker runs executions of backends" : "No worker is running";
    onLog(`${none} at present; executions wait for one with ${formatResources(wanted)}.`);
    return null;
  }
  if (capacities.some((capacity) => fits(wanted, capacity))) return null;
  const largest = findLargest(capacities);
  const have = largest.length === 1 ? " has" : "s have";
  const forBackends = isBackend ? " for backends (--backend-cpu, --backend-memory of the platform)" : "";
  return fail(
    isBackend ? "BACKEND_TOO_LARGE" : "INVALID_PROJECT",
    `platform.json: resources ask for ${formatResources(wanted)}, but the largest worker${have} ` +
      `${largest.map(formatResources).join(", or ")}${forBackends}. No execution could start.`,
  );
}

function describeProbeFailure(probe: Extract<Probe, { ok: false }>, onLog: (line: string) => void): Failure {
  if (probe.traceback !== null) onLog(probe.traceback);
  return fail(probe.code, probe.detail);
}

async function readDescription(directory: string, project: Project): Promise<string> {
  if (project.descriptionFile === undefined) return "";
  const path = join(directory, project.descriptionFile);
  if ((await stat(path)).size > MAX_DESCRIPTION_BYTES) {
    throw new ProjectError(
      "INVALID_PROJECT",
      `${project.descriptionFile} is larger than ${MAX_DESCRIPTION_BYTES} bytes.`,
    );
  }
  return (await readFile(path, "utf8")).replaceAll("\0", "\u{FFFD}");
}
