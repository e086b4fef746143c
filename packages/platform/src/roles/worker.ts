import { setTimeout as sleep } from "node:timers/promises";
import type { ProjectKind, Resources } from "@platform/contract/project";
import { SECOND } from "@platform/engine/base/time";
import type { OpenQuantum } from "@platform/engine/worker/run-claim";
import { createExecutionTokens } from "../access/execution-tokens.ts";
import { createDispatcher } from "@platform/engine/worker/dispatcher";
import type { Dispatcher } from "@platform/engine/worker/dispatcher";
import { findBackendCapacity } from "../config/backend-settings.ts";
import { createLeaseWatchdog } from "../host/lease-watchdog.ts";
import { collectWorker } from "../observability/worker-metrics.ts";
import type { PlatformMetrics } from "../observability/platform-metrics.ts";
import { createVariables } from "../secrets/variables.ts";
import { backendWorkerOf } from "../store/base/backend-worker.ts";
import { createVersionSource } from "../versions/version-source.ts";
import { withVariables } from "../versions/with-variables.ts";
import type { Python } from "./python.ts";
import type { Shared } from "./shared.ts";

/** What the roles worker and builder are started with. */
export interface WorkRoleOptions {
  /** Names this process in claims of both roles, and in the list of processes. */
  readonly workerId: string;
  /** Null: nothing is counted. */
  readonly metrics: PlatformMetrics | null;
}

/** How often it is looked whether there is a backend, until there is one. */
const LOOK_MS = 2 * SECOND;

/** What a worker runs executions of one kind with. */
interface Lane {
  readonly kind: ProjectKind;
  readonly workerId: string;
  readonly capacity: Resources;
  readonly onDeadline: (giveUpAt: number | null) => void;
}

/** Runs executions of services and, once there is a backend, beside them those of backends. */
export function startWorker(shared: Shared, python: Python, { workerId, metrics }: WorkRoleOptions): void {
  const { config, closers, stop, readiness } = shared;
  const watchdog = createLeaseWatchdog(config.leaseSeconds);
  closers.add("watchdog", watchdog.close);
  const deadlines = joinDeadlines(watchdog.setDeadline);
  const create = createLanes(shared, python, metrics);
  const services = create({
    kind: "service",
    workerId,
    capacity: config.capacity,
    onDeadline: deadlines.add(),
  });
  const backendCapacity = findBackendCapacity(config);
  const backends =
    backendCapacity === undefined
      ? null
      : create({
          kind: "backend",
          workerId: backendWorkerOf(workerId),
          capacity: backendCapacity,
          onDeadline: deadlines.add(),
        });
  metrics?.addCollector(
    collectWorker(python.runtime, [
      { kind: "service", dispatcher: services, capacity: config.capacity },
      ...(backends === null
        ? []
        : [{ kind: "backend", dispatcher: backends, capacity: config.backendCapacity } as const]),
    ]),
  );
  const isClosing = new AbortController();
  // Not waited for at the end: the database may be away, and a worker that has drained starts nothing any more.
  if (backends !== null) void startOnceNeeded(shared, backends, isClosing.signal);
  const lanes = backends === null ? [services] : [services, backends];
  // What still runs after draining ends with the runtime, and these ends are written by the close. The builder, which
  // shares the runtime, is closed before.
  closers.add("worker", async () => {
    isClosing.abort();
    await Promise.all(lanes.map((lane) => lane.drain(config.drainSeconds, stop.killing)));
    await python.runtime.close();
    await Promise.all(lanes.map((lane) => lane.close()));
  });
  readiness.watchWorker(() => joinRests(services.explainRest(), backends?.explainRest() ?? null));
  services.start();
}

/** Why this worker starts no executions of one kind or of either; null: it starts all. */
export function joinRests(ofServices: string | null, ofBackends: string | null): string | null {
  if (ofBackends === null) return ofServices;
  const backends = `Executions of backends: ${ofBackends}`;
  return ofServices === null ? backends : `${ofServices} ${backends}`;
}

function createLanes(
  shared: Shared,
  { runtime, environments, sandbox }: Python,
  metrics: PlatformMetrics | null,
): (lane: Lane) => Dispatcher {
  const { config, closers, disk, stores, files, executionStore, logger } = shared;
  const plain = createVersionSource({ versions: stores.versions, files, environments });
  const { readOfVersion } = createVariables(stores.variables, shared.secret);
  const source = { readOfVersion, subscribe: stores.variables.subscribe };
  const versions = withVariables(plain, source, runtime.retire);
  closers.add("variables", async () => versions.close());
  const { sign } = createExecutionTokens(shared.secret);
  const openQuantum: OpenQuantum = ({ id, attempt }) => ({
    token: sign({ executionId: id, attempt }),
    published: config.namesPublished,
  });
  return (lane) =>
    createDispatcher({
      ...lane,
      // Executions of backends start no quantum jobs: each of those ends without waiting for another one.
      ...(lane.kind === "service" ? { openQuantum } : {}),
      store: executionStore,
      versions,
      runtime,
      sandboxLevel: sandbox.level,
      leaseSeconds: config.leaseSeconds,
      isHeldUp: disk.isLow,
      logger,
      inputs: shared.inputs,
      jsonCheck: shared.jsonCheck,
      ...(metrics === null ? {} : { observer: metrics.worker }),
      ...(shared.tracer === undefined ? {} : { tracer: shared.tracer }),
    });
}

/** Without a backend, nothing is claimed and nobody is told of this lane. */
async function startOnceNeeded(
  { stores, logger }: Pick<Shared, "stores" | "logger">,
  backends: Dispatcher,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      if (await stores.backends.isAny()) return backends.start();
    } catch (error) {
      logger.debug({ err: error }, "whether there is a backend could not be read");
    }
    await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** The earliest of several deadlines is that of the process. */
function joinDeadlines(set: (giveUpAt: number | null) => void): {
  readonly add: () => (giveUpAt: number | null) => void;
} {
  const deadlines: (number | null)[] = [];
  return {
    add: () => {
      const place = deadlines.push(null) - 1;
      return (giveUpAt) => {
        deadlines[place] = giveUpAt;
        const known = deadlines.filter((one) => one !== null);
        set(known.length === 0 ? null : Math.min(...known));
      };
    },
  };
}
