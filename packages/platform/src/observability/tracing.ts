import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace";
import { SECOND } from "@platform/engine/base/time";
import type { Logger } from "@platform/engine/base/logger";
import type { Tracer } from "@platform/engine/base/tracer";
import type { Collector } from "./exposition.ts";
import { createSpanTracer } from "./span-tracer.ts";

/** Where traces are sent. */
export interface TracingOptions {
  /** Base of the collector's OTLP/HTTP address. */
  readonly endpoint: string;
  /** Sent with each request; may be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Which part of the traces that begin here is written, 0 to 1; a caller's trace is written where the caller says so. */
  readonly ratio: number;
  readonly version: string;
  readonly logger: Logger;
}

/** The traces of this process. */
export interface Tracing {
  readonly tracer: Tracer;
  readonly collect: Collector;
  /** Sends what is left, for at most so long as a stop may be delayed. */
  readonly close: () => Promise<void>;
}

/** Spans that wait; more are dropped. About 2 kB each. */
const QUEUE = 4_096;
const BATCH = 512;
const EVERY_MS = 1 * SECOND;
const EXPORT_MS = 10 * SECOND;
const CLOSE_MS = 2 * SECOND;
/** `ExportResultCode.SUCCESS` of a package that is not ours to name. */
const SENT = 0;

interface Counters {
  ended: number;
  exported: number;
  failed: number;
}

/**
 * Loads OpenTelemetry, which a process that writes no traces does not, and sends spans in the background. A collector that is slow or away
 * costs the spans that find no place, and nothing else.
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  const { endpoint, headers, ratio, version, logger } = options;
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const counters: Counters = { ended: 0, exported: 0, failed: 0 };
  const url = `${endpoint}/v1/traces`;
  const plain = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: EXPORT_MS });
  const batch = new sdk.BatchSpanProcessor({
    exporter: watchExporter(plain, counters, logger),
    maxQueueSize: QUEUE,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: EVERY_MS,
    exportTimeoutMillis: EXPORT_MS,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ "service.name": "platform", "service.version": version }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [countEnded(counters), batch],
  });
  return {
    tracer: createSpanTracer(api, provider.getTracer("platform", version)),
    collect: (exposition) => {
      for (const outcome of ["ended", "exported", "failed"] as const)
        exposition.add("platform_spans_total", { outcome }, counters[outcome]);
    },
    close: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS);
      });
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

function countEnded(counters: Counters): SpanProcessor {
  return {
    onStart: () => undefined,
    onEnd: () => void (counters.ended += 1),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
}

/** Counts what was sent, and logs once when that begins to fail, and once when it works again. */
function watchExporter(exporter: SpanExporter, counters: Counters, logger: Logger): SpanExporter {
  let state: "works" | "fails" = "works";
  return {
    export: (spans: ReadableSpan[], done) =>
      exporter.export(spans, (result) => {
        const code: number = result.code;
        const next = code === SENT ? "works" : "fails";
        counters[next === "works" ? "exported" : "failed"] += spans.length;
        if (next !== state && next === "fails")
          logger.warn({ err: result.error }, "traces could not be sent; executions are not affected");
        if (next !== state && next === "works") logger.info({}, "traces can be sent again");
        state = next;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
