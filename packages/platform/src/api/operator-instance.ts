import { formatTimestamp, WAITING_REASONS } from "@platform/contract/execution";
import type {
  Instance,
  OPERATOR_INSTANCE_API,
  Worker,
} from "@platform/contract/platform-api/operator-instance";
import { Problem } from "@platform/contract/problems";
import { SANDBOX_LEVELS } from "@platform/contract/sandbox";
import type { SandboxReport } from "@platform/contract/sandbox";
import { createCache } from "@platform/engine/base/cache";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import { cutOffsetPage, readOffsetPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { Stores } from "../store/stores.ts";
import type { PlatformCaller } from "./caller.ts";

type ListedProcess = Awaited<ReturnType<Stores["processes"]["list"]>>[number];
type QueueMeasure = Awaited<ReturnType<Stores["instance"]["measureQueue"]>>;
type ListedWorker = Awaited<ReturnType<Stores["workers"]["list"]>>[number];

/** What only the process that answers knows. */
export interface HostFacts {
  readonly settings: readonly Readonly<Instance["settings"][number]>[];
  readonly isDatabaseEmbedded: boolean;
  /** Bytes of the data directory's disk that stay free. */
  readonly floorBytes: number;
  /** Of that disk, in bytes. */
  readonly readSpace: () => Promise<{ readonly free: number; readonly total: number }>;
}

/** What the handlers work with. */
export interface OperatorInstanceDeps extends Pick<Stores, "instance" | "processes" | "workers"> {
  readonly host: HostFacts;
  readonly disk: { readonly isLow: () => boolean };
  readonly identity: { readonly signUpMode: string };
  readonly version: string;
  readonly apiUrl: string;
  readonly gatewayUrl: string;
}

/** However many operators look: with 100,000 executions that wait, it takes some 0.1 s to measure them. */
const QUEUE_MS = 5 * SECOND;

/** Handlers of the instance and its workers. */
export function createOperatorInstanceHandlers(
  deps: OperatorInstanceDeps,
): OperationHandlers<typeof OPERATOR_INSTANCE_API, PlatformCaller> {
  const { workers } = deps;
  const measures = createCache<QueueMeasure>({ ttlMs: QUEUE_MS, maxEntries: 1 });
  const measureQueue = () => measures.get("", deps.instance.measureQueue);
  const setDraining = async (id: string, isDraining: boolean) => {
    const worker = await workers.setDraining(id, isDraining);
    if (worker === null)
      throw new Problem(
        "NOT_FOUND",
        "There is no such worker: it may have stopped. GET /api/operator/workers lists them.",
      );
    return { status: 200 as const, body: toWorkerBody(worker) };
  };
  return {
    getInstance: async () => ({ status: 200, body: await describeInstance(deps, await measureQueue()) }),
    listWorkers: async ({ query }) => {
      const page = readOffsetPage(query);
      const found = (await workers.list()).slice(page.offset, page.offset + page.limit + 1);
      return { status: 200, body: cutOffsetPage(found, page, toWorkerBody) };
    },
    drainWorker: ({ params }) => setDraining(params.workerId, true),
    resumeWorker: ({ params }) => setDraining(params.workerId, false),
  };
}

async function describeInstance(deps: OperatorInstanceDeps, queue: QueueMeasure): Promise<Instance> {
  const { version, apiUrl, gatewayUrl, host } = deps;
  const since = readMonotonic();
  const database = await deps.instance.readDatabase();
  const answeredInMs = Math.round(readMonotonic() - since);
  const [processes, space] = await Promise.all([deps.processes.list(), host.readSpace()]);
  return {
    version,
    versions: [...new Set(processes.filter(({ isLive }) => isLive).map((live) => live.version))].toSorted(),
    apiUrl,
    gatewayUrl,
    processes: processes.map(toProcessBody),
    queue: toQueueBody(queue),
    database: { ...database, kind: host.isDatabaseEmbedded ? "embedded" : "external", answeredInMs },
    disk: {
      freeBytes: space.free,
      totalBytes: space.total,
      floorBytes: host.floorBytes,
      low: deps.disk.isLow(),
    },
    signUp: {
      mode: deps.identity.signUpMode,
      changeable: false,
      how: "Start the processes that serve the platform API with another --sign-up (PLATFORM_SIGN_UP).",
    },
    settings: host.settings.map((setting) => ({ ...setting })),
  };
}

function toQueueBody({ parts }: QueueMeasure): Instance["queue"] {
  return parts
    .toSorted((one, other) => one.oldestAt - other.oldestAt)
    .map(({ reason, count, oldestAt }) => ({
      reason,
      meaning: WAITING_REASONS[reason],
      executions: count,
      oldestSince: formatTimestamp(oldestAt),
    }));
}

function toProcessBody(process: ListedProcess): Instance["processes"][number] {
  const { id, host, pid, roles, version, startedAt, seenAt, isLive, disk, faults, python } = process;
  return {
    id,
    host,
    pid,
    roles: [...roles],
    version,
    startedAt: formatTimestamp(startedAt),
    uptimeSeconds: Math.max(0, Math.round((seenAt - startedAt) / SECOND)),
    lastSeenAt: formatTimestamp(seenAt),
    live: isLive,
    disk: { freeBytes: disk.free, totalBytes: disk.total },
    faults: faults.map(({ part, detail }) => ({ part, detail })),
    sandbox: toSandboxBody(process.sandbox),
    python,
  };
}

function toWorkerBody(worker: ListedWorker): Worker {
  const { id, kind, host, version, startedAt, drainingSince, capacity, used, running, builds } = worker;
  return {
    id,
    kind,
    host,
    roles: [...(worker.roles ?? [])],
    version,
    startedAt: startedAt === null ? null : formatTimestamp(startedAt),
    lastSeenAt: formatTimestamp(worker.seenAt),
    live: worker.isLive,
    draining: drainingSince !== null,
    drainingSince: drainingSince === null ? null : formatTimestamp(drainingSince),
    capacity: { ...capacity },
    used: { ...used },
    running,
    builds,
    sandbox: toSandboxBody(worker.sandbox),
    pythons: worker.python === null ? [] : [worker.python],
  };
}

function toSandboxBody(report: SandboxReport | null): Worker["sandbox"] {
  if (report === null) return null;
  const { level, missing } = report;
  return { level, gives: SANDBOX_LEVELS[level].gives, missing: missing.map((piece) => ({ ...piece })) };
}
