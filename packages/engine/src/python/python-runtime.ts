import { chmodSync, cpSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runTrusted } from "../host/processes.ts";
import { removeTree } from "../files/remove-tree.ts";
import { readMonotonic } from "../base/monotonic.ts";
import { notStarted } from "./child/answers.ts";
import { createExecution } from "./child/execution.ts";
import { createPaces } from "./wire/pace.ts";
import { probeVersion } from "./probe.ts";
import type { PythonRuntime, Run, RunRequest, RunnableVersion } from "./port/runtime.ts";
import { createRooms } from "./pool/zygote-folders.ts";
import { readSettings } from "./port/settings.ts";
import type { PythonRuntimeOptions } from "./port/settings.ts";
import { createVersionPool } from "./pool/version-pool.ts";
import type { PoolHost } from "./pool/pool-host.ts";
import type { VersionPool } from "./pool/version-pool.ts";
import { startZygote } from "./pool/zygote.ts";

const TICK_MS = 1000;
const COMPILE_TIMEOUT_MS = 60_000;
/** 107 bytes are the kernel's limit for a socket's path (unix(7)); ours adds a folder and a name to the run directory. */
const MAX_RUN_DIRECTORY_LENGTH = 80;

/** Runs executions of Python versions in sandboxed processes: one zygote per version, one forked child per execution. */
export function createPythonRuntime(options: PythonRuntimeOptions): PythonRuntime {
  const settings = readSettings(options);
  const runnerDirectory = installRunner(options);
  const paces = createPaces();
  const rooms = createRooms(options.runDirectory, options.logger);
  const pools = new Map<string, VersionPool>();
  const retiring = new Map<VersionPool, Promise<void>>();
  let compiling: Promise<void> | null = null;
  const stopping = new AbortController();
  const ticker = setInterval(tick, TICK_MS);
  ticker.unref();

  const start: PoolHost["startZygote"] = (given) => {
    compiling ??= precompileRunner();
    return startZygote({ ...given, sandbox: options.sandbox, runnerDirectory, rooms, paces });
  };

  /**
   * Compiling our own modules takes longer than anything else in a cold start; the sandbox itself cannot write the results. Never with a
   * version's own interpreter: that file lies in an environment, where packages may have put what they like. The base installation's
   * bytecode serves, because an environment has the same cache tag.
   */
  async function precompileRunner(): Promise<void> {
    if (options.interpreter === null) return;
    const args = ["-I", "-S", "-m", "compileall", "-q", runnerDirectory];
    const { signal } = stopping;
    try {
      await runTrusted(options.interpreter, args, { env: {}, timeout: COMPILE_TIMEOUT_MS, signal });
    } catch (error) {
      if (!signal.aborted) options.logger.warn({ err: error }, "the Python half could not be compiled ahead");
    }
  }

  function tick(): void {
    const now = readMonotonic();
    for (const [id, pool] of pools) {
      pool.tick(now);
      if (!pool.hasZygote() && !pool.isBusy() && now - pool.lastUsed() > settings.zygoteIdleMs)
        pools.delete(id);
    }
  }

  /** A cap on memory: the idle zygote that was used longest ago makes room. */
  function makeRoom(): void {
    const warm = [...pools].filter(([, pool]) => pool.hasZygote());
    if (warm.length < settings.maxZygotes) return;
    const [oldest] = warm
      .filter(([, pool]) => !pool.isBusy())
      .sort(([, left], [, right]) => left.lastUsed() - right.lastUsed());
    if (oldest !== undefined) void retirePool(oldest[0], oldest[1]);
  }

  function findPool(version: RunnableVersion): VersionPool {
    const known = pools.get(version.id);
    if (known !== undefined) return known;
    makeRoom();
    const pool = createVersionPool({
      version,
      settings,
      startZygote: start,
      findSandboxFault: options.sandbox.findFault,
      logger: options.logger,
    });
    pools.set(version.id, pool);
    return pool;
  }

  async function retirePool(id: string, pool: VersionPool): Promise<void> {
    if (pools.get(id) === pool) pools.delete(id);
    const gone = pool.retire();
    retiring.set(pool, gone);
    await gone;
    retiring.delete(pool);
  }

  function run(request: RunRequest): Run {
    let pool: VersionPool | null = null;
    const execution = createExecution(request, settings, () => pool?.withdraw(execution));
    if (stopping.signal.aborted)
      execution.refuse(notStarted("worker", "The worker was stopped before the execution began."));
    else {
      pool = findPool(request.version);
      pool.submit(execution);
    }
    return execution.run;
  }

  return {
    run,
    probe: (version) => probeVersion(version, start, settings),
    retire: async (versionId) => {
      const pool = pools.get(versionId);
      if (pool !== undefined) await retirePool(versionId, pool);
    },
    close: async () => {
      stopping.abort();
      clearInterval(ticker);
      await Promise.all([...pools.values(), ...retiring.keys()].map((pool) => pool.close()));
      await Promise.all([...retiring.values(), compiling]);
      await rooms.drain();
      await removeTree(options.runDirectory).catch((error: unknown) =>
        options.logger.warn({ err: error }, "the run directory could not be removed"),
      );
    },
  };
}

/** Copies the Python half to where the sandbox's uid can read it: the source may lie in a home that is closed to others. */
function installRunner(options: PythonRuntimeOptions): string {
  const { runDirectory } = options;
  if (!isAbsolute(runDirectory)) throw new Error(`runDirectory must be absolute: ${runDirectory}`);
  if (Buffer.byteLength(runDirectory) > MAX_RUN_DIRECTORY_LENGTH)
    throw new Error(
      `runDirectory must have at most ${MAX_RUN_DIRECTORY_LENGTH} bytes, a socket's path is limited: ${runDirectory}`,
    );
  mkdirSync(runDirectory, { recursive: true });
  const runner = join(runDirectory, "runner");
  rmSync(runner, { recursive: true, force: true });
  const source = options.runnerDirectory ?? fileURLToPath(new URL("../../runner", import.meta.url));
  cpSync(source, runner, {
    recursive: true,
    filter: (path) => !path.endsWith("__pycache__") && !path.endsWith("tests"),
  });
  chmodSync(runDirectory, 0o711);
  for (const path of [runner, join(runner, "service_runner")]) chmodSync(path, 0o755);
  if (options.sandbox.level === "bubblewrap" && process.getuid?.() === 0) refuseClosedParents(runDirectory);
  return runner;
}

function refuseClosedParents(path: string): void {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0)
      throw new Error(
        `${folder} is closed to the uids that versions run as: choose a run directory elsewhere, or chmod o+x it`,
      );
  }
}
