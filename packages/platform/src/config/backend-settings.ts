import type { Resources } from "@platform/contract/project";
import { optionalNumber } from "./settings.ts";
import type { Setting } from "./settings.ts";

/** What executions of backends may take beside those of services, unless a setting says otherwise. */
const SHARE = 0.25;

/** Settings of the capacity for executions of backends, by the name of their flags. */
export const BACKEND_SETTINGS = {
  "backend-cpu": optionalNumber(
    "PLATFORM_BACKEND_CPU",
    "vCPUs for executions of backends beside those of services, once there is a backend; 0: this worker runs none",
    { min: 0, max: 4096, isWhole: false },
    "a quarter of --worker-cpu, at least 1",
  ),
  "backend-memory": optionalNumber(
    "PLATFORM_BACKEND_MEMORY",
    "GB for them",
    { min: 0, max: 65_536, isWhole: false },
    "as many as vCPUs",
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** What a worker with these settings has for executions of backends; undefined: it runs none. */
export function findBackendCapacity({
  backendCapacity,
}: {
  readonly backendCapacity: Resources;
}): Resources | undefined {
  return backendCapacity.cpu > 0 && backendCapacity.memory > 0 ? backendCapacity : undefined;
}

/** vCPUs and GB. Services that wait for a quantum job need no processor meanwhile, so it may be more than the machine has. */
export function readBackendCapacity(
  settings: Readonly<Record<keyof typeof BACKEND_SETTINGS, number | null> & Record<"worker-cpu", number>>,
): Resources {
  const cpu = settings["backend-cpu"] ?? Math.max(1, settings["worker-cpu"] * SHARE);
  return { cpu, memory: settings["backend-memory"] ?? cpu };
}
