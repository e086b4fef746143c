import { choice, optionalNumber, text } from "./settings.ts";
import type { Setting } from "./settings.ts";

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** Settings of what operators see of a process, by the name of their flags. */
export const OBSERVABILITY_SETTINGS = {
  "metrics-port": optionalNumber(
    "PLATFORM_METRICS_PORT",
    "Port of /metrics for Prometheus, which asks nobody who they are; each process on a host needs its own",
    { min: 0, max: 65_535, isWhole: true },
    "no metrics; usual is 9464",
  ),
  "metrics-host": text("PLATFORM_METRICS_HOST", "ADDRESS", "Address on which /metrics listens", "127.0.0.1"),
  "log-level": choice("PLATFORM_LOG_LEVEL", "Least severity of log lines", LOG_LEVELS, "info"),
} as const satisfies Record<string, Setting<unknown>>;

/** What operators see of a process; frozen with the other settings. */
export interface ObservabilityConfig {
  /** Where metrics are served; null: nowhere, and nothing is counted. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  readonly logLevel: (typeof LOG_LEVELS)[number];
}

/** @param settings as they were parsed */
export function readObservability(settings: {
  readonly "metrics-port": number | null;
  readonly "metrics-host": string;
  readonly "log-level": ObservabilityConfig["logLevel"];
}): ObservabilityConfig {
  const port = settings["metrics-port"];
  return {
    metrics: port === null ? null : { host: settings["metrics-host"], port },
    logLevel: settings["log-level"],
  };
}
