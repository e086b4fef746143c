import { join } from "node:path";
import { GIGABYTE } from "../../base/bytes.ts";
import type { SandboxLaunch } from "../sandbox/sandbox.ts";
import type { Order } from "../wire/control-messages.ts";
import type { ZygoteOptions } from "./zygote-options.ts";

const SHARED_TEMPORARY_FOLDERS = ["/tmp/", "/dev/shm/"];

/** The first order of a zygote, as its sandbox shows the version. */
export function createBootOrder(
  { version, startMode, probe, maxChildren }: ZygoteOptions,
  { view }: SandboxLaunch,
): Order {
  return {
    order: "boot",
    project: view.project,
    home: join(view.zygote, "home"),
    scratch: view.scratch,
    keep: version.readablePaths.filter((path) =>
      SHARED_TEMPORARY_FOLDERS.some((folder) => path.startsWith(folder)),
    ),
    variables: version.variables,
    memory: Math.round(version.resources.memory * GIGABYTE),
    children: maxChildren,
    isolation: view.isolation,
    startMode,
    probe: probe ?? "none",
    external: version.isExternal === true,
  };
}
