import { platform } from "node:process";
import { removeTree } from "../files/remove-tree.ts";
import { notStarted } from "./child/answers.ts";
import { createExecution } from "./child/execution.ts";
import { createPaces } from "./wire/pace.ts";
import { createProbes } from "./probe.ts";
import type { PythonRuntime, Run, RunRequest } from "./port/runtime.ts";
import { stageInputs } from "./pool/staged-inputs.ts";
import { createZygoteFolders } from "./pool/zygote-folders.ts";
import { limitOutput, readSettings } from "./port/settings.ts";
import type { PythonRuntimeOptions } from "./port/settings.ts";
import type { PoolHost } from "./pool/boot.ts";
import { createVersionPools } from "./pool/version-pools.ts";
import { createWatcher } from "./watch/watcher.ts";
import { compileRunner, installRunner } from "./runner.ts";

const TICK_MS = 1000;

/** Runs executions of Python versions in sandboxed processes: one zygote per version, one forked child per execution. */
export function createPythonRuntime(options: PythonRuntimeOptions): PythonRuntime {
  const { sandbox, logger, runDirectory } = options;
  const settings = readSettings(options);
  const runnerDirectory = installRunner(options);
  const folders = createZygoteFolders(runDirectory, logger);
  const watcher = sandbox.cgroups === null && platform === "linux" ? createWatcher() : null;
  if (watcher !== null)
    logger.warn(
      {},
      "there are no control groups: the memory and the vCPUs of executions are sampled, what is exceeded is seen up to a second later",
    );
  const paces = createPaces();
  const parts = { settings, logger, sandbox, runnerDirectory, folders, paces, watcher };
  const host: PoolHost = { ...parts, doorkeeper: options.doorkeeper ?? null };
  const pools = createVersionPools(host);
  const probes = createProbes(host);
  const stopping = new AbortController();
  // Now: beside the first zygote, which would compile it for itself as well, it makes the first execution late.
  const compiling = compileRunner(options, runnerDirectory, stopping.signal);
  const ticker = setInterval(pools.tick, TICK_MS);
  ticker.unref();

  function run(request: RunRequest): Run {
    const own = limitOutput(settings, request.version.output);
    const execution = createExecution(request, own, () => pools.withdraw(execution));
    if (stopping.signal.aborted)
      execution.refuse(notStarted("worker", "The worker was stopped before the execution began."));
    else pools.find(request.version).submit(execution);
    const { referred } = request.input;
    if (referred !== undefined) void execution.run.ended.then(referred.files.discard);
    return execution.run;
  }

  async function close(): Promise<void> {
    stopping.abort();
    clearInterval(ticker);
    await Promise.all([pools.close(), probes.close()]);
    await compiling;
    await folders.drain();
    await sandbox.cgroups?.close();
    await removeTree(runDirectory).catch((error: unknown) =>
      logger.warn({ err: error }, "the run directory could not be removed"),
    );
  }

  return {
    run,
    stageInputs: (fill) => stageInputs(host, fill),
    probe: probes.probe,
    retire: pools.retire,
    readLoad: pools.readLoad,
    close,
  };
}
