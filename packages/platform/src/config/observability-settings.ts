import {
  SettingError,
  choice,
  number,
  optionalNumber,
  optionalOrigin,
  secretText,
  text,
} from "./settings.ts";
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
  "otlp-endpoint": optionalOrigin(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "Where traces are sent by OTLP over HTTP (JSON), without /v1/traces; default: nowhere",
  ),
  "otlp-headers": secretText(
    "OTEL_EXPORTER_OTLP_HEADERS",
    "HEADERS",
    "Sent with them, such as authorization=Bearer%20TOKEN; several separated by commas",
  ),
  "trace-ratio": number(
    "PLATFORM_TRACE_RATIO",
    "Which part of the traces that begin at the platform is written; those of callers are written where they say so",
    { min: 0, max: 1, isWhole: false },
    1,
  ),
  "log-level": choice("PLATFORM_LOG_LEVEL", "Least severity of log lines", LOG_LEVELS, "info"),
} as const satisfies Record<string, Setting<unknown>>;

/** What operators see of a process; frozen with the other settings. */
export interface ObservabilityConfig {
  /** Where metrics are served; null: nowhere, and nothing is counted. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  /** Where traces are sent; null: nowhere. */
  readonly tracing: {
    readonly endpoint: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly ratio: number;
  } | null;
  readonly logLevel: (typeof LOG_LEVELS)[number];
}

/** @param settings as they were parsed. @throws SettingError */
export function readObservability(settings: {
  readonly "metrics-port": number | null;
  readonly "metrics-host": string;
  readonly "otlp-endpoint": string | null;
  readonly "otlp-headers": string | null;
  readonly "trace-ratio": number;
  readonly "log-level": ObservabilityConfig["logLevel"];
}): ObservabilityConfig {
  const port = settings["metrics-port"];
  const endpoint = settings["otlp-endpoint"];
  const headers = readHeaders(settings["otlp-headers"] ?? "");
  return {
    metrics: port === null ? null : { host: settings["metrics-host"], port },
    tracing: endpoint === null ? null : { endpoint, headers, ratio: settings["trace-ratio"] },
    logLevel: settings["log-level"],
  };
}

const HEADER = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=([^\r\n]*)$/u;

/** As OpenTelemetry has it: values have special characters as %XX. The text itself is not shown: it may hold a token. @throws SettingError */
function readHeaders(text: string): Readonly<Record<string, string>> {
  const wrong = new SettingError(
    "OTEL_EXPORTER_OTLP_HEADERS (--otlp-headers) must be headers such as authorization=Bearer%20TOKEN, separated by commas.",
  );
  const given = text.split(",").filter((part) => part.trim() !== "");
  return Object.fromEntries(
    given.map((part) => {
      const [, name, value] = HEADER.exec(part) ?? [];
      if (name === undefined || value === undefined) throw wrong;
      try {
        return [name.toLowerCase(), decodeURIComponent(value.trim())];
      } catch {
        throw wrong;
      }
    }),
  );
}
