import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { join, relative, sep } from "node:path";
import type { Resources } from "@platform/contract/project";
import { TRY_PATH } from "@platform/contract/local-try";
import type { SandboxReport } from "@platform/contract/sandbox";
import { createClosers } from "@platform/engine/base/closers";
import type { Closers } from "@platform/engine/base/closers";
import { GIGABYTE } from "@platform/engine/base/bytes";
import { findPythonTools } from "@platform/engine/environments/python-tools";
import { createFolderResults } from "@platform/engine/content/folder-results";
import type { ResultStore } from "@platform/engine/content/result-store";
import { closeInherited } from "@platform/engine/host/close-inherited";
import { findTemporaryFolder } from "@platform/engine/host/temporary-folder";
import { createDispatcher } from "@platform/engine/worker/dispatcher";
import { createMemoryFeed } from "@platform/engine/executions/memory-feed";
import { createExecutions } from "@platform/engine/executions/executions";
import { createJsonCheck } from "@platform/engine/json-check/json-check";
import type { JsonCheck } from "@platform/engine/json-check/json-check";
import type { ExecutionStore } from "@platform/engine/store/execution-store";
import type { PythonRuntime } from "@platform/engine/python/port/runtime";
import { createPythonRuntime } from "@platform/engine/python/python-runtime";
import { startExpirer } from "@platform/engine/queue/expirer";
import { startReleaser } from "@platform/engine/queue/releaser";
import { startSweeper } from "@platform/engine/queue/sweeper";
import { getCode } from "@platform/engine/base/thrown";
import { UserError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import type { Output } from "../base/output.ts";
import type { Settings } from "../base/settings.ts";
import { ENVIRONMENT_FILE } from "./environment-file.ts";
import type { Fault } from "./fault-table.ts";
import { createFaultInjection } from "./inject-faults.ts";
import { createKeptContents } from "./kept-contents.ts";
import type { KeptContents } from "./kept-contents.ts";
import { startEnvironmentCollection } from "./environment-collection.ts";
import { createLocalApp, describeUrl } from "./local-app.ts";
import type { LocalApp } from "./local-app.ts";
import { createLocalQuantum } from "./local-quantum.ts";
import type { LocalQuantum, QuantumLogin } from "./local-quantum.ts";
import { createLocalFiles } from "./local-files.ts";
import { createLocalPolicy, listPolicyFiles } from "./local-policy.ts";
import type { PolicySettings } from "./local-policy.ts";
import { LOCAL_JOB_OWNER } from "./local-service.ts";
import { createLocalStore } from "./local-store.ts";
import type { LocalWebhooks } from "./local-webhooks.ts";
import { createLocalVersions } from "./local-versions.ts";
import type { LoadedVersion } from "./local-versions.ts";
import { chooseEnvironmentsDirectory } from "./environments-directory.ts";
import { createLocalTargets, persistLocally } from "./persisted-results.ts";
import { explainLocalName, readPools } from "./pool-folder.ts";
import type { LocalPools } from "./pool-folder.ts";
import { createReloads, printFailure } from "./reload-all.ts";
import { createServerLogger } from "./server-logger.ts";
import type { ServerLogger } from "./server-logger.ts";
import { watchProject } from "./watch-project.ts";
import type { WebhookSettings } from "./webhook-settings.ts";

/** Store and worker are the same process, so a lease need not detect a lost worker; it must outlast suspending a laptop. */
const LEASE_SECONDS = 6 * 60 * 60;
/** Interval at which connections are closed during the stop. */
const DISCONNECT_INTERVAL_MS = 50;
/** What an execution may return, and leave as files; the platform's defaults. */
const OUTPUT_LIMITS = { resultBytes: GIGABYTE, files: { count: 100, bytes: GIGABYTE } } as const;
const LISTEN_ERROR_CODES = new Set(["EADDRINUSE", "EACCES", "EADDRNOTAVAIL", "ENOTFOUND"]);

/** What to serve, where, and with which tools. */
export interface LocalServerOptions {
  /** Absolute. */
  readonly projectDirectory: string;
  /** Absolute; see `pool-folder.ts`. It need not exist. */
  readonly dataPoolsDirectory: string;
  /** Address or host name to listen on. */
  readonly host: string;
  /** Host names, besides localhost and IP addresses, under which the server may be called. */
  readonly allowedHosts: readonly string[];
  /** 0: a free port. */
  readonly port: number;
  readonly settings: Settings;
  readonly output: Output;
  /** See `inject-faults.ts`. */
  readonly faults: readonly Fault[];
  readonly faultSeed: number;
  /** Null: none, so that all is as platform.json says. */
  readonly policy: PolicySettings | null;
  /** Null: starts that name a URL are refused. */
  readonly webhooks: WebhookSettings | null;
  /** Null: executions use no quantum backends. */
  readonly quantum: QuantumLogin | null;
  /** Aborts the preparation of Python environments. */
  readonly signal: AbortSignal;
  /** Folder of the Python runner; default: that of the engine's sources. */
  readonly runnerDirectory?: string;
  /** See `JsonCheckOptions`. */
  readonly jsonThreadFile?: string;
  /** Folder of Swagger UI; default: the installed package. */
  readonly docsDirectory?: string;
  /** Folder of the built page that tries the project; it need not exist. Missing: there is no such page. */
  readonly tryDirectory?: string;
}

/** A running server. */
export interface LocalServer {
  /** Base URL, without a final slash. */
  readonly url: string;
  /** The page that tries the project, for a browser on this machine. */
  readonly tryUrl: string;
  /** The version with which the server started. */
  readonly version: LoadedVersion;
  readonly dataPools: LocalPools;
  /** How well the project's code is isolated from this machine. */
  readonly sandbox: SandboxReport;
  readonly pythonVersion: string;
  /** Stops running executions and everything else that was started. */
  readonly close: () => Promise<void>;
}

/**
 * Serves one project with the engine of the platform, but with a store in memory, without tokens, and with results in the flat form.
 * To be called before this process opens anything by itself: it closes what its starter has left open.
 *
 * @throws ProjectError, UserError PORT_IN_USE, CANNOT_LISTEN
 */
export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  closeInherited();
  const logger = createServerLogger(options.output, options.settings.isDebug);
  const closers = createClosers(logger);
  try {
    return { ...(await start({ options, logger, closers })), close: closers.closeAll };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** State while the server starts. `closers` closes the parts in the reverse order of their start. */
interface Starting {
  readonly options: LocalServerOptions;
  readonly logger: ServerLogger;
  readonly closers: Closers;
}

async function start(starting: Starting): Promise<Omit<LocalServer, "close">> {
  const { options, closers } = starting;
  const { output } = options;
  const directory = await createRunDirectory();
  closers.add("temporary files", () => rm(directory, { recursive: true, force: true }));
  const results = createFolderResults(join(directory, "results"));
  const python = await startPython(starting, directory, results);
  const contents = createKeptContents(join(directory, "contents"));
  const feed = createMemoryFeed();
  const local = createLocalStore({ ...starting, feed, contents, output, settings: options.webhooks });
  const { memory, webhooks } = local;
  const faults = createFaultInjection({
    faults: options.faults,
    seed: options.faultSeed,
    onFault: (name, whom) =>
      output.note(`${output.paintNote("yellow", "fault")} ${name}: ${cleanText(whom)}`),
    signal: options.signal,
  });
  const persisting = persistLocally(local.store, { root: options.dataPoolsDirectory, results });
  const store = faults.wrapStore(persisting);
  const capacity = measureCapacity();
  const exclude = findExcluded(options);
  const runtime = faults.wrapRuntime(python.runtime);
  const policy = options.policy === null ? null : createLocalPolicy(options.policy, memory);
  const loading = { directory, python, runtime, store, capacity, exclude };
  const { versions, version } = await loadVersions(starting, loading);
  const sandboxLevel = python.sandbox.report.level;
  const jsonCheck = createJsonCheck(
    options.jsonThreadFile === undefined ? {} : { threadFile: options.jsonThreadFile },
  );
  closers.add("check of JSON", jsonCheck.close);
  const given = { store, versions, capacity, sandboxLevel, runtime, contents, results, jsonCheck, webhooks };
  const executions = faults.wrapExecutions(startExecutions(starting, { ...given, quantum: python.quantum }));
  const reloads = createReloads({ versions, policy, output });
  const app = await createLocalApp(starting, { executions, versions, policy, faults, feed, reloads });
  closers.add("HTTP server", () => closeApp(app));
  const url = await listen(app, options);
  const watcher = await watchProject({
    directory: options.projectDirectory,
    exclude,
    include: [ENVIRONMENT_FILE, ...listPolicyFiles(options.policy, options.projectDirectory)],
    onChange: reloads.reload,
  });
  closers.add("file watcher", watcher.close);
  const dataPools = await readPools(options.dataPoolsDirectory);
  const { sandbox, pythonVersion } = python;
  return { url, tryUrl: toTryUrl(url), version, dataPools, sandbox: sandbox.report, pythonVersion };
}

async function startPython({ options, logger, closers }: Starting, directory: string, results: ResultStore) {
  const { output, settings } = options;
  const tools = await findPythonTools({
    searchPath: settings.searchPath,
    chooseDirectory: (user) => chooseEnvironmentsDirectory(settings.cacheDirectory, user, output.note),
    rights: { trustsCode: true },
    variables: settings.hostVariables,
    ...(options.runnerDirectory === undefined ? {} : { runnerDirectory: options.runnerDirectory }),
  });
  closers.add("environments", tools.environments.close);
  const quantum = options.quantum === null ? null : createLocalQuantum(options.quantum, logger);
  const runtime = createPythonRuntime({
    runDirectory: join(directory, "run"),
    sandbox: tools.sandbox,
    interpreter: tools.interpreter,
    capacity: measureCapacity(),
    results,
    explainPoolName: explainLocalName,
    limits: OUTPUT_LIMITS,
    logger,
    ...(quantum === null ? {} : { doorkeeper: quantum.doorkeeper }),
    ...(options.runnerDirectory === undefined ? {} : { runnerDirectory: options.runnerDirectory }),
  });
  closers.add("Python", runtime.close);
  return { ...tools, runtime, quantum };
}

interface Loading {
  /** Of this server. */
  readonly directory: string;
  readonly python: Awaited<ReturnType<typeof startPython>>;
  readonly runtime: PythonRuntime;
  readonly store: ExecutionStore;
  readonly capacity: Resources;
  readonly exclude: readonly string[];
}

/** The versions of the project, and the first of them. */
async function loadVersions(
  { options, logger, closers }: Starting,
  { directory, python, runtime, store, capacity, exclude }: Loading,
) {
  const { projectDirectory, output, signal } = options;
  const versions = createLocalVersions({
    projectDirectory,
    exclude,
    environments: python.environments,
    runtime,
    capacity,
    versionsDirectory: join(directory, "versions"),
    hasUnfinished: (versionId) => hasUnfinished(store, versionId),
    onBuildLine: (line) => output.note(`  ${line}`),
    signal,
  });
  const version = await versions.load();
  if (version.failure !== null) printFailure(version.failure, output);
  const collection = { directory: python.environmentsDirectory, versions, logger };
  closers.add("collection of environments", startEnvironmentCollection(collection));
  return { versions, version };
}

type DispatcherParts = Parameters<typeof createDispatcher>[0];

/** Starts the executions, the worker that runs them, and the sweeper of their leases. */
function startExecutions(
  { options, logger, closers }: Starting,
  given: Pick<DispatcherParts, "store" | "versions" | "capacity" | "sandboxLevel"> & {
    readonly runtime: PythonRuntime;
    readonly contents: KeptContents;
    readonly results: ResultStore;
    readonly jsonCheck: JsonCheck;
    readonly webhooks: LocalWebhooks | undefined;
    readonly quantum: LocalQuantum | null;
  },
): ReturnType<typeof createExecutions> {
  const { contents, results, webhooks, quantum, ...rest } = given;
  const root = options.dataPoolsDirectory;
  const inputs = createLocalFiles({ root, contents, jsonCheck: given.jsonCheck });
  const targets = createLocalTargets(root);
  const executions = createExecutions({
    store: given.store,
    inputs,
    results,
    targets,
    allowsHigh: () => true,
    ...(webhooks === undefined ? {} : { webhooks: webhooks.starts }),
  });
  closers.add("executions", executions.close);
  const parts = { ...rest, inputs, workerId: "local-worker", leaseSeconds: LEASE_SECONDS, logger };
  closers.add("sweeper", startSweeper(parts));
  closers.add("releaser", startReleaser(parts));
  closers.add("expirer", startExpirer(parts));
  const dispatcher = createDispatcher({
    ...parts,
    ...(quantum === null ? {} : { openQuantum: quantum.openQuantum }),
  });
  dispatcher.start();
  closers.add("worker", async () => {
    await dispatcher.drain(0);
    await given.runtime.close();
    await dispatcher.close();
  });
  return executions;
}

async function listen(app: LocalApp, { host, port }: LocalServerOptions): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const code = getCode(error) ?? "";
    if (!LISTEN_ERROR_CODES.has(code)) throw error;
    if (code === "EADDRINUSE")
      throw new UserError("PORT_IN_USE", `Port ${port} on ${host} is in use by another program.`, {
        cause: error,
        hint: "Choose another port with --port, for example: platform serve --port 8082",
      });
    throw new UserError("CANNOT_LISTEN", `The server cannot listen on ${host}:${port} (${code}).`, {
      cause: error,
      hint:
        code === "EACCES"
          ? "Ports below 1024 may be reserved for root: choose a higher one with --port."
          : "--host must be an address or name of this machine: leave it out, or pass 0.0.0.0 for all its addresses.",
    });
  }
  return describeUrl(app, { host, port });
}

/** All addresses of this machine are no address for a browser. */
function toTryUrl(url: string): string {
  return `${url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\])/u, "http://localhost")}${TRY_PATH}`;
}

/** Closes connections repeatedly until the server has stopped: Node 18 would wait up to a minute for idle connections of a browser. */
async function closeApp(app: LocalApp): Promise<void> {
  const disconnect = () => app.server.closeAllConnections();
  const timer = setInterval(disconnect, DISCONNECT_INTERVAL_MS);
  try {
    const closed = app.close();
    disconnect();
    await closed;
  } finally {
    clearInterval(timer);
  }
}

/**
 * Creates the folder of this server. It is in the system's folder for temporary files, so that the user of the sandbox can read it and
 * the paths of sockets are short enough.
 */
async function createRunDirectory(): Promise<string> {
  const directory = await mkdtemp(join(findTemporaryFolder(), "platform-"));
  await mkdir(join(directory, "versions"));
  // Mode 711: other users cannot list the folder, and its name is random. The sandbox gets the full path.
  for (const path of [directory, join(directory, "versions")]) await chmod(path, 0o711);
  return directory;
}

function measureCapacity(): Resources {
  return { cpu: Math.max(1, cpus().length), memory: totalmem() / GIGABYTE };
}

/** Paths that do not belong to the project: the local data pools. */
function findExcluded({ projectDirectory, dataPoolsDirectory }: LocalServerOptions): readonly string[] {
  const inside = relative(projectDirectory, dataPoolsDirectory);
  return inside === "" || inside.startsWith("..") ? [] : [inside.split(sep).join("/")];
}

/** Whether the version has executions that are not final. */
async function hasUnfinished(store: ExecutionStore, versionId: string): Promise<boolean> {
  for (const status of ["PENDING", "RUNNING"] as const) {
    const page = await store.list(LOCAL_JOB_OWNER.id, { status, limit: Number.MAX_SAFE_INTEGER });
    if (page.items.some((record) => record.versionId === versionId)) return true;
  }
  return false;
}
