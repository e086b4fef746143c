import type { Tracer } from "@platform/engine/base/tracer";
import { startExpirer } from "@platform/engine/queue/expirer";
import { startSweeper } from "@platform/engine/queue/sweeper";
import { readSpace } from "../base/files.ts";
import { createOrigin } from "../config/addresses.ts";
import type { Collector } from "../observability/exposition.ts";
import { createPlatformMetrics } from "../observability/platform-metrics.ts";
import type { PlatformMetrics } from "../observability/platform-metrics.ts";
import { startTracing } from "../observability/tracing.ts";
import type { HostProcess } from "./host-process.ts";
import type { Shared } from "./shared.ts";

/** What writes the traces of this process, and counts them; null where they are sent nowhere. */
export async function openTracing(
  { config, closers, logger }: HostProcess,
  version: string,
): Promise<{ readonly tracer: Tracer; readonly collectors: readonly Collector[] } | null> {
  if (config.tracing === null) return null;
  const { tracer, collect, close } = await startTracing({ ...config.tracing, version, logger });
  closers.add("traces", close);
  logger.info({ endpoint: config.tracing.endpoint }, "traces are sent");
  return { tracer, collectors: [collect] };
}

/** Counts what this process does; null where nobody wants to know. */
export function startMetrics(
  shared: Shared,
  { version, collectors }: { readonly version: string; readonly collectors: readonly Collector[] },
): PlatformMetrics | null {
  const { config, closers, executionStore, stores, readiness, data, pools, cancellations, logger } = shared;
  if (config.metrics === null) return null;
  const metrics = createPlatformMetrics({
    sources: {
      queue: executionStore.measureQueue,
      builds: stores.measures.builds,
      nameVersions: stores.measures.nameVersions,
      faults: readiness.findFaults,
      disk: () => readSpace(data.root),
    },
    logger,
    version,
    roles: [...config.roles].toSorted().join(","),
  });
  closers.add("metrics", metrics.close);
  executionStore.subscribe((event) => {
    if (event.type === "changed" && event.record !== undefined) metrics.changed(event.record);
  });
  cancellations.listen(metrics.cancelled);
  for (const collect of collectors) metrics.addCollector(collect);
  metrics.addCollector((exposition) => {
    for (const [pool, { countConnections }] of pools) {
      const { busy, idle, waiting } = countConnections();
      exposition.add("platform_postgres_connections", { pool, state: "busy" }, busy);
      exposition.add("platform_postgres_connections", { pool, state: "idle" }, idle);
      exposition.add("platform_postgres_waiting", { pool }, waiting);
    }
    exposition.add("platform_disk_floor_bytes", {}, config.minFreeDiskBytes);
  });
  return metrics;
}

/** Every process settles what is past its lease, or past the deadline of its start: the last worker may be the one that is lost. */
export function startSweeping(shared: Shared, metrics: PlatformMetrics | null): void {
  const { config, closers, executionStore: store, logger } = shared;
  let swept = 0;
  const onSwept = (count: number): void => void (swept += count);
  const { leaseSeconds } = config;
  closers.add("sweeper", startSweeper({ store, leaseSeconds, logger, onSwept }));
  closers.add("expirer", startExpirer({ store, logger }));
  metrics?.addCollector((exposition) => exposition.add("platform_executions_swept_total", {}, swept));
}

/** Where Prometheus finds the metrics, for the log. */
export function describeMetricsUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${createOrigin(host, port)}/metrics`;
}
