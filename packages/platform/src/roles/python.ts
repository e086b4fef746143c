import { findPythonTools } from "@platform/engine/environments/python-tools";
import { createPythonRuntime } from "@platform/engine/python/python-runtime";
import type { EnvironmentBuilder } from "@platform/engine/environments/environment";
import type { PythonRuntime } from "@platform/engine/python/port/runtime";
import type { Shared } from "./shared.ts";

/** What the roles worker and builder share to run user code. */
export interface Python {
  readonly runtime: PythonRuntime;
  readonly environments: EnvironmentBuilder;
}

/** Finds the tools for user code and starts the runtime. @throws Error when this machine lacks one of them */
export async function startPython({ config, data, logger, closers }: Shared): Promise<Python> {
  const { environments, ...tools } = await findPythonTools({
    searchPath: config.environment["PATH"] ?? "",
    sandbox: config.sandbox === "none" ? "none" : "required",
    chooseDirectory: () => data.environments,
    confinedBuilds: { hidden: [data.root] },
    variables: config.environment,
  });
  const runtime = createPythonRuntime({ runDirectory: data.run, ...tools, logger });
  closers.add("Python", runtime.close);
  closers.add("environments", environments.close);
  return { runtime, environments };
}
