import type { Resources } from "@platform/contract/project";
import { BACKEND_SETTINGS, readBackendCapacity } from "./backend-settings.ts";
import { choice, optionalOrigin } from "./settings.ts";
import type { Setting } from "./settings.ts";

/** Settings of backends, and of how services use them, by the name of their flags. */
export const QUANTUM_SETTINGS = {
  ...BACKEND_SETTINGS,
  "quantum-url": optionalOrigin(
    "PLATFORM_QUANTUM_URL",
    "Origin at which this worker reaches the platform API for services that use quantum backends; default: its own process, or --api-url",
  ),
  "published-sdks": choice(
    "PLATFORM_PUBLISHED_SDKS",
    "Whether services find their access to quantum backends by the names that published SDKs read as well",
    ["true", "false"],
    "true",
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** What a worker has for backends, and how services use them. */
export interface QuantumConfig {
  /** vCPUs and GB for executions of backends, beside those of services; 0: it runs none. */
  readonly backendCapacity: Resources;
  /** Null: its own process where that serves the platform API, else the URL of users. */
  readonly quantumUrl: string | null;
  readonly namesPublished: boolean;
}

/** Reads the settings. */
export function readQuantum(
  settings: Parameters<typeof readBackendCapacity>[0] & {
    readonly "quantum-url": string | null;
    readonly "published-sdks": "true" | "false";
  },
): QuantumConfig {
  return {
    backendCapacity: Object.freeze(readBackendCapacity(settings)),
    quantumUrl: settings["quantum-url"],
    namesPublished: settings["published-sdks"] === "true",
  };
}
