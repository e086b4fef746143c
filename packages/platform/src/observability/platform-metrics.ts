import type { Logger } from "@platform/engine/base/logger";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import type { HttpObserver } from "@platform/engine/http/request-observer";
import type { WorkerObserver } from "@platform/engine/worker/worker-observer";
import { createBuildMetrics } from "./build-metrics.ts";
import type { BuildObserver } from "./build-metrics.ts";
import { createExecutionMetrics } from "./execution-metrics.ts";
import type { ExecutionMetrics } from "./execution-metrics.ts";
import { createExposition } from "./exposition.ts";
import type { Collector, LineStarts } from "./exposition.ts";
import { createHttpMetrics } from "./http-metrics.ts";
import { watchProcess } from "./process-metrics.ts";
import { createSnapshotKeeper } from "./snapshot.ts";
import type { SnapshotSources } from "./snapshot.ts";
import { collectSnapshot } from "./snapshot-metrics.ts";

/** Everything that this process counts and measures, for Prometheus. */
export interface PlatformMetrics {
  readonly observeHttp: (api: "gateway" | "platform") => HttpObserver;
  readonly worker: WorkerObserver;
  readonly changed: ExecutionMetrics["changed"];
  readonly cancelled: ExecutionMetrics["cancelled"];
  readonly builder: BuildObserver;
  readonly addCollector: (collect: Collector) => void;
  /** The text of a scrape. Two within a second get the same. Never rejects. */
  readonly scrape: () => Promise<string>;
  readonly close: () => void;
}

/** What metrics are made of. */
export interface PlatformMetricsOptions {
  readonly sources: SnapshotSources;
  readonly logger: Logger;
  /** Labels of `platform_info`. */
  readonly version: string;
  readonly roles: string;
}

const SAME_TEXT_MS = 1 * SECOND;

/** Counts from now on, until `close`. */
export function createPlatformMetrics(options: PlatformMetricsOptions): PlatformMetrics {
  const { sources, logger, version, roles } = options;
  const http = createHttpMetrics();
  const executions = createExecutionMetrics(readMonotonic);
  const builds = createBuildMetrics();
  const own = watchProcess();
  const { listVersions } = executions;
  const keeper = createSnapshotKeeper({ sources, listVersions, logger, now: readMonotonic });
  const collectors: Collector[] = [
    (exposition) => exposition.add("platform_info", { version, roles }, 1),
    own.collect,
    http.collect,
    builds.collect,
    (exposition) => executions.collect(exposition, keeper.names),
    (exposition) => {
      const last = keeper.read();
      if (last === null) return;
      exposition.add("platform_snapshot_age_seconds", {}, (readMonotonic() - last.at) / SECOND);
      collectSnapshot(exposition, last.snapshot, Date.now());
    },
  ];
  const starts: LineStarts = new WeakMap();
  const write = async (): Promise<string> => {
    await keeper.refresh();
    const exposition = createExposition(starts);
    for (const collect of collectors) collect(exposition);
    return exposition.toText();
  };
  let written: Promise<string> | null = null;
  let writtenAt = -Infinity;
  return {
    observeHttp: http.observerOf,
    worker: executions.observer,
    changed: executions.changed,
    cancelled: executions.cancelled,
    builder: builds.observer,
    addCollector: (collect) => void collectors.push(collect),
    scrape: () => {
      if (written !== null && readMonotonic() - writtenAt < SAME_TEXT_MS) return written;
      writtenAt = readMonotonic();
      written = write();
      return written;
    },
    close: own.close,
  };
}
