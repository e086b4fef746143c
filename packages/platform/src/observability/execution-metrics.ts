import { isFinal } from "@platform/contract/execution";
import type { ExecutionStatus } from "@platform/contract/execution";
import { FAILURES } from "@platform/contract/problems";
import { HOUR, SECOND } from "@platform/engine/base/time";
import type { WorkerObserver } from "@platform/engine/worker/worker-observer";
import type { VersionName } from "../store/versions/name-versions.ts";
import type { Exposition } from "./exposition.ts";
import { createSeriesByVersion } from "./version-series.ts";
import type { SeriesLimits, VersionSeries } from "./version-series.ts";

/** 34 lines each: 3,400 lines or half a megabyte in all, which take a few milliseconds to write. */
const LIMITS: SeriesLimits = { versions: 100, idleMs: 1 * HOUR };
/** Of the versions that are counted together. */
const OTHERS: VersionName = { organization: "other", service: "other", version: "other" };
/** For codes that services choose themselves. */
const OTHER_CODE = "OTHER";

/** The state that an execution has come to, with the code of its failure. */
interface ExecutionChange {
  readonly status: ExecutionStatus;
  readonly failure: { readonly code: string } | null;
}

/** What the worker of this process does, and which ends this process writes, whatever its roles. */
export interface ExecutionMetrics {
  readonly observer: WorkerObserver;
  /** Each change that this process has made of an execution. */
  readonly changed: (change: ExecutionChange) => void;
  /** So many that waited have ended by a cancellation of many. */
  readonly cancelled: (ended: number) => void;
  /** Versions that have series of their own. */
  readonly listVersions: () => readonly string[];
  /** Leaves out versions that have no name yet. */
  readonly collect: (exposition: Exposition, names: ReadonlyMap<string, VersionName>) => void;
}

interface Counters {
  claimed: number;
  gaveBack: { fault: number; stop: number; retry: number };
  leases: { kept: number; lost: number };
  readonly failed: Map<string, number>;
}

/** Has counted nothing. @param now monotonic milliseconds */
export function createExecutionMetrics(now: () => number, limits: SeriesLimits = LIMITS): ExecutionMetrics {
  const series = createSeriesByVersion(limits, now);
  const counters: Counters = {
    claimed: 0,
    gaveBack: { fault: 0, stop: 0, retry: 0 },
    leases: { kept: 0, lost: 0 },
    failed: new Map(),
  };
  return {
    observer: {
      claimed: (executions) => void (counters.claimed += executions),
      began: (versionId, waitedMs) => {
        const of = series.of(versionId);
        of.started += 1;
        of.waited.observe(waitedMs / SECOND);
      },
      ended: ({ versionId, status, ranMs }) => {
        const of = series.of(versionId);
        increase(of.ended, status);
        if (ranMs !== null) of.ran.observe(ranMs / SECOND);
      },
      gaveBack: (reason) => void (counters.gaveBack[reason] += 1),
      renewed: (kept, lost) => {
        counters.leases.kept += kept;
        counters.leases.lost += lost;
      },
    },
    changed: ({ status, failure }) => {
      if (failure === null || !isFinal(status)) return;
      increase(counters.failed, Object.hasOwn(FAILURES, failure.code) ? failure.code : OTHER_CODE);
    },
    cancelled: (ended) => increase(counters.failed, "CANCELLED", ended),
    listVersions: () => [...series.list().keys()],
    collect: (exposition, names) => {
      for (const [id, of] of series.list()) {
        const name = names.get(id);
        if (name !== undefined) collectVersion(exposition, name, of);
      }
      collectVersion(exposition, OTHERS, series.others);
      collectCounters(exposition, counters);
    },
  };
}

function increase(counts: Map<string, number>, key: string, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function collectVersion(
  exposition: Exposition,
  { organization, service, version }: VersionName,
  { started, ended, waited, ran }: VersionSeries,
): void {
  const labels = { organization, service, version };
  if (started > 0) exposition.add("platform_executions_started_total", labels, started);
  for (const [status, count] of ended)
    exposition.add("platform_executions_ended_total", { ...labels, status }, count);
  exposition.addHistogram("platform_execution_wait_seconds", labels, waited);
  exposition.addHistogram("platform_execution_run_seconds", labels, ran);
}

function collectCounters(exposition: Exposition, { claimed, gaveBack, leases, failed }: Counters): void {
  exposition.add("platform_claims_total", {}, claimed);
  exposition.add("platform_claims_given_back_total", { reason: "fault" }, gaveBack.fault);
  exposition.add("platform_claims_given_back_total", { reason: "stop" }, gaveBack.stop);
  exposition.add("platform_claims_given_back_total", { reason: "retry" }, gaveBack.retry);
  exposition.add("platform_leases_total", { outcome: "renewed" }, leases.kept);
  exposition.add("platform_leases_total", { outcome: "lost" }, leases.lost);
  for (const code of [...Object.keys(FAILURES), OTHER_CODE])
    exposition.add("platform_executions_failed_total", { code }, failed.get(code) ?? 0);
}
