import { startSweeper } from "@platform/engine/queue/sweeper";
import { readSpace } from "../base/files.ts";
import { createOrigin } from "../config/addresses.ts";
import { createPlatformMetrics } from "../observability/platform-metrics.ts";
import type { PlatformMetrics } from "../observability/platform-metrics.ts";
import type { Shared } from "./shared.ts";

/** Counts what this process does; null where nobody wants to know. */
export function startMetrics(shared: Shared, version: string): PlatformMetrics | null {
  const { config, closers, executionStore, stores, readiness, data, pools, logger } = shared;
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

/** Every process settles what is past its lease: the last worker may be the one that is lost. */
export function startSweeping(shared: Shared, metrics: PlatformMetrics | null): void {
  const { config, closers, executionStore: store, logger } = shared;
  let swept = 0;
  const onSwept = (count: number): void => void (swept += count);
  const { leaseSeconds } = config;
  closers.add("sweeper", startSweeper({ store, leaseSeconds, logger, onSwept }));
  metrics?.addCollector((exposition) => exposition.add("platform_executions_swept_total", {}, swept));
}

/** Where Prometheus finds the metrics, for the log. */
export function describeMetricsUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${createOrigin(host, port)}/metrics`;
}
