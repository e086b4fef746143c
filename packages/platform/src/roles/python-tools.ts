import { getuid } from "node:process";
import { createEnvironmentBuilder } from "@platform/engine/environments/environment";
import type { EnvironmentBuilder } from "@platform/engine/environments/environment";
import { findExecutables, SYSTEM_FOLDERS } from "@platform/engine/host/find-executables";
import type { TrustedExecutable } from "@platform/engine/host/trusted-executable";
import { findInterpreter } from "@platform/engine/environments/interpreter";
import { findSandbox } from "@platform/engine/python/sandbox/find-sandbox";
import { createNoSandbox } from "@platform/engine/python/sandbox/no-sandbox";
import type { Sandbox } from "@platform/engine/python/sandbox/sandbox";
import type { Config } from "../config/config.ts";
import type { DataDirectory } from "../host/data-directory.ts";

/** As root, versions run under uids from here on, and builds of environments under the one before. */
const SANDBOX_UID = 200_000;
const BUILD_USER = { uid: SANDBOX_UID - 1, gid: SANDBOX_UID - 1 };

export interface PythonTools {
  readonly sandbox: Sandbox;
  readonly environments: EnvironmentBuilder;
  /** The installation that environments are made of. */
  readonly interpreter: TrustedExecutable;
}

/** Finds what this machine has to run Python: the sandbox that the operator demands, an interpreter, uv or pip. */
export async function findPythonTools(config: Config, data: DataDirectory): Promise<PythonTools> {
  const searchPath = config.environment["PATH"] ?? "";
  const [bubblewrap] = await findExecutables("bwrap", `${searchPath}:${SYSTEM_FOLDERS}`);
  const [uv] = await findExecutables("uv", searchPath);
  const isRoot = getuid?.() === 0;
  const sandbox =
    config.sandbox === "none"
      ? createNoSandbox()
      : await findSandbox({ minimum: "bubblewrap", uidBase: SANDBOX_UID, searchPath });
  const isDropped = isRoot && config.sandbox !== "none";
  const interpreter = await findInterpreter({
    searchPath,
    ...(isDropped ? { readableBy: { uid: SANDBOX_UID, gid: SANDBOX_UID } } : {}),
  });
  const environments = createEnvironmentBuilder({
    directory: data.environments,
    interpreter,
    uv: uv ?? null,
    bubblewrap: config.sandbox === "none" ? null : (bubblewrap ?? null),
    hidden: [data.root],
    variables: config.environment,
    ...(isRoot ? { buildUser: BUILD_USER } : {}),
  });
  return { sandbox, environments, interpreter: interpreter.executable };
}
