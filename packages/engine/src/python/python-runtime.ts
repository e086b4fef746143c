import { removeTree } from "../files/remove-tree.ts";
import { readMonotonic } from "../base/monotonic.ts";
import { notStarted } from "./child/answers.ts";
import { createExecution } from "./child/execution.ts";
import { createPaces } from "./wire/pace.ts";
import { probeVersion } from "./probe.ts";
import type { PythonRuntime, Run, RunRequest } from "./port/runtime.ts";
import { createRooms } from "./pool/zygote-folders.ts";
import { readSettings } from "./port/settings.ts";
import type { PythonRuntimeOptions } from "./port/settings.ts";
import { createVersionPool } from "./pool/version-pool.ts";
import type { PoolHost } from "./pool/pool-host.ts";
import type { VersionPool } from "./pool/version-pool.ts";
import { createVersionPools } from "./pool/version-pools.ts";
import { startZygote } from "./pool/zygote.ts";
import { compileRunner, installRunner } from "./runner.ts";

const TICK_MS = 1000;

/** Runs executions of Python versions in sandboxed processes: one zygote per version, one forked child per execution. */
export function createPythonRuntime(options: PythonRuntimeOptions): PythonRuntime {
  const { sandbox, logger, runDirectory } = options;
  const settings = readSettings(options);
  const runnerDirectory = installRunner(options);
  const paces = createPaces();
  const rooms = createRooms(runDirectory, logger);
  const stopping = new AbortController();
  let compiling: Promise<void> | null = null;

  const start: PoolHost["startZygote"] = (given) => {
    compiling ??= compileRunner(options, runnerDirectory, stopping.signal);
    return startZygote({ ...given, sandbox, runnerDirectory, rooms, paces });
  };
  const pools = createVersionPools(settings, (version) =>
    createVersionPool({
      version,
      settings,
      startZygote: start,
      findSandboxFault: sandbox.findFault,
      logger,
    }),
  );
  const ticker = setInterval(() => pools.tick(readMonotonic()), TICK_MS);
  ticker.unref();

  function run(request: RunRequest): Run {
    let pool: VersionPool | null = null;
    const execution = createExecution(request, settings, () => pool?.withdraw(execution));
    if (stopping.signal.aborted)
      execution.refuse(notStarted("worker", "The worker was stopped before the execution began."));
    else {
      pool = pools.find(request.version);
      pool.submit(execution);
    }
    return execution.run;
  }

  async function close(): Promise<void> {
    stopping.abort();
    clearInterval(ticker);
    await pools.close();
    await compiling;
    await rooms.drain();
    await removeTree(runDirectory).catch((error: unknown) =>
      logger.warn({ err: error }, "the run directory could not be removed"),
    );
  }

  return {
    run,
    probe: (version) => probeVersion(version, start, settings),
    retire: pools.retire,
    close,
  };
}
