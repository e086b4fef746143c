import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { startReleaser } from "@platform/engine/queue/releaser";
import { readSpace } from "../base/files.ts";
import type { HostFacts } from "../api/operator-instance.ts";
import { registerPlatformApi } from "../api/platform-api.ts";
import { startLeftJobs } from "../quantum/left-jobs.ts";
import { registerQuantumApi } from "../quantum/quantum-api.ts";
import { createExecutionTokens } from "../access/execution-tokens.ts";
import { createBuilder } from "../builder/builder.ts";
import { createOrigin } from "../config/addresses.ts";
import type { Role } from "../config/config.ts";
import { BUILD_COMMAND, CONSOLE_DIRECTORY, registerConsole } from "../console/console.ts";
import { registerGateway } from "../gateway/gateway.ts";
import { PARTS } from "../pools/part-files.ts";
import { createVariables } from "../secrets/variables.ts";
import type { HttpServers } from "./http-servers.ts";
import { startPython } from "./python.ts";
import type { Python, Tools } from "./python.ts";
import type { Shared } from "./shared.ts";
import { startSchedules } from "./schedules.ts";
import { startWebhooks } from "./webhooks.ts";
import { startWorker } from "./worker.ts";
import type { WorkRoleOptions } from "./worker.ts";

/**
 * Starts the roles of this process. Their routes are registered before the servers listen.
 *
 * @returns the URL of the console, or what builds it; null: this process does not serve it
 */
export async function startRoles(
  shared: Shared,
  { gateway, api }: HttpServers,
  tools: Tools | null,
  { workerId, metrics }: WorkRoleOptions,
): Promise<string | null> {
  const { closers } = shared;
  const plays = (role: Role) => shared.config.roles.has(role);
  if (plays("gateway")) await startGateway(shared, gateway);
  const console = plays("control") ? await startControl(shared, api) : null;
  if (plays("control")) startWebhooks(shared);
  if (plays("control")) startSchedules(shared);
  if (plays("control")) startReleasing(shared);
  if (plays("control"))
    closers.add("quantum jobs that are left", startLeftJobs({ ...shared, ...shared.stores }));
  if (tools === null) return console;
  const python = startPython(shared, tools, () => reachApi(shared.config, api));
  if (plays("worker")) startWorker(shared, python, { workerId, metrics });
  if (plays("builder")) startBuilder(shared, python, { workerId, metrics });
  return console;
}

/** Where this process reaches the platform API: by way of the loopback where it serves it, on whichever port. */
function reachApi(
  { quantumUrl, roles, host, apiPort, apiUrl }: Shared["config"],
  api: HttpServers["api"],
): string {
  if (quantumUrl !== null) return quantumUrl;
  if (!roles.has("control")) return apiUrl;
  const address = api.server.address();
  const port = typeof address === "object" && address !== null ? address.port : apiPort;
  return createOrigin(EVERYWHERE[host] ?? host, port);
}

/** Addresses to listen on, by those that they are reached at from here. */
const EVERYWHERE: Readonly<Record<string, string | undefined>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Token endpoint and service API. */
async function startGateway(
  { stores, executions, feeds, secret, config, logger }: Shared,
  app: HttpServers["gateway"],
): Promise<void> {
  const { gatewayUrl, startsPerSecond } = config;
  await registerGateway(app, { ...stores, executions, feeds, secret, gatewayUrl, startsPerSecond, logger });
}

/** Brings executions that are held into the queue. */
function startReleasing({ executionStore: store, closers, logger }: Shared): void {
  closers.add("releaser", startReleaser({ store, logger }));
}

/** The platform API and the console. @returns its URL, or what builds it */
async function startControl(
  {
    stores,
    secret,
    identity,
    executions,
    feeds,
    history,
    objects,
    explainObjects,
    data,
    disk,
    config,
    logger,
  }: Shared,
  app: HttpServers["api"],
): Promise<string> {
  const { gatewayUrl, apiUrl, writesPerSecond, startsPerSecond, maxFileBytes, maxRetentionDays } = config;
  const { version } = manifest;
  const shared = await registerPlatformApi(app, {
    ...stores,
    secret,
    identity,
    executions,
    feeds,
    history,
    objects,
    partsDirectory: join(data.objects, PARTS),
    disk,
    explainObjects,
    gatewayUrl,
    apiUrl,
    writesPerSecond,
    startsPerSecond,
    maxFileBytes,
    maxRetentionDays,
    highPriorityOrganisations: config.highPriorityOrganisations,
    retentionDays: config.retentionDays,
    logRetentionDays: config.logRetentionDays,
    version,
    host: describeHost(config, data.root),
  });
  await registerQuantumApi(app, {
    ...stores,
    ...shared,
    executions,
    history,
    executionTokens: createExecutionTokens(secret),
  });
  const isBuilt = await registerConsole(app, { apiUrl, gatewayUrl, directory: CONSOLE_DIRECTORY, logger });
  return isBuilt ? apiUrl : `not built: ${BUILD_COMMAND}`;
}

/** What only this process knows, for operators. */
function describeHost(config: Shared["config"], folder: string): HostFacts {
  return {
    settings: config.shown,
    isDatabaseEmbedded: config.databaseUrl === null,
    floorBytes: config.minFreeDiskBytes,
    readSpace: () => readSpace(folder),
  };
}

/** Runs builds. */
function startBuilder(
  shared: Shared,
  { runtime, environments, sandbox }: Python,
  { workerId, metrics }: WorkRoleOptions,
): void {
  const { config, closers, stores, files, executionStore, logger } = shared;
  const { builds, versions } = stores;
  const missing = sandbox.missing.find(({ piece }) => piece === "network") ?? null;
  const network = { policy: config.network, missing };
  const { readOfService: readVariables } = createVariables(stores.variables, shared.secret);
  const builder = createBuilder(
    {
      builds,
      versions,
      readVariables,
      files,
      environments,
      runtime,
      workers: executionStore,
      network,
      workerId,
      logger,
      ...(metrics === null ? {} : { onEnded: metrics.builder }),
    },
    { leaseSeconds: config.leaseSeconds },
  );
  closers.add("builder", builder.close);
}
