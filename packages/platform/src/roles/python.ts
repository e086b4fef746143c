import { isAtLeast, SANDBOX_LEVELS } from "@platform/contract/sandbox";
import type { SandboxReport } from "@platform/contract/sandbox";
import { findPythonTools } from "@platform/engine/environments/python-tools";
import { createQuantumRelay } from "@platform/engine/http/quantum-relay";
import { createPythonRuntime } from "@platform/engine/python/python-runtime";
import { redactSecrets } from "@platform/engine/python/redaction";
import { describeShortfall } from "@platform/engine/python/sandbox/grade";
import type { EnvironmentBuilder } from "@platform/engine/environments/environment";
import type { PythonRuntime } from "@platform/engine/python/port/runtime";
import type { DataDirectory } from "../host/data-directory.ts";
import { StartError } from "../host/start-error.ts";
import type { HostProcess } from "./host-process.ts";
import type { Shared } from "./shared.ts";

/** What the roles worker and builder share to run user code. */
export interface Python {
  readonly runtime: PythonRuntime;
  readonly environments: EnvironmentBuilder;
  /** How well `runtime` isolates user code. */
  readonly sandbox: SandboxReport;
}

/** What this machine has for user code. */
export type Tools = Awaited<ReturnType<typeof findPythonTools>>;

/**
 * Finds the tools for user code; null for roles that run none. To be called before the database is opened, so that a process that refuses to
 * start has migrated nothing.
 *
 * @throws StartError, ProjectError when this machine lacks one of them
 */
export async function findTools(
  { config, logger, closers }: HostProcess,
  data: DataDirectory,
): Promise<Tools | null> {
  if (!config.roles.has("worker") && !config.roles.has("builder")) return null;
  const tools = await findPythonTools({
    searchPath: config.environment["PATH"] ?? "",
    chooseDirectory: () => data.environments,
    confinedBuilds: {
      allowsSourceBuilds: config.allowsSourceBuilds,
      // No builds are claimed below the floor: one that is running may use half of it.
      minFreeBytes: config.minFreeDiskBytes / 2,
      ownerBytes: config.environmentBytes,
    },
    rights: { networkPolicy: config.network },
    variables: config.environment,
  });
  closers.add("environments", tools.environments.close);
  const { report } = tools.sandbox;
  if (!isAtLeast(report.level, config.sandboxMin))
    throw new StartError(
      `${describeShortfall(report, config.sandboxMin)}\nOr lower --sandbox-min (PLATFORM_SANDBOX_MIN). ${describeLevel(report)}`,
    );
  logger.info({ level: report.level, missing: report.missing }, describeLevel(report));
  return tools;
}

/** Starts the runtime. @param reachApi origin of the platform API as this process reaches it */
export function startPython(
  { config, data, logger, closers, readiness, results }: Shared,
  found: Tools,
  reachApi: () => string,
): Python {
  const { environments, ...tools } = found;
  const { zygoteMemoryBytes, capacity, backendCapacity } = config;
  readiness.addSandbox(tools.sandbox.report);
  const plain = createPythonRuntime({
    runDirectory: data.run,
    ...tools,
    zygoteMemoryBytes,
    capacity: {
      cpu: capacity.cpu + backendCapacity.cpu,
      memory: capacity.memory + backendCapacity.memory,
    },
    results,
    doorkeeper: createQuantumRelay({ target: reachApi, logger }),
    limits: { resultBytes: config.maxResultBytes, files: { count: 100, bytes: config.maxResultBytes } },
    logger,
  });
  const runtime = redactSecrets(plain);
  closers.add("Python", runtime.close);
  return { runtime, environments, sandbox: tools.sandbox.report };
}

/** A sentence for the log and the operator. */
function describeLevel({ level }: SandboxReport): string {
  return `Isolation level ${level}: ${SANDBOX_LEVELS[level].gives}`;
}
