/** A family of series, as Prometheus has it. Units stand in the name. */
interface MetricRule {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
}

/** Every metric of the platform. The page of metrics is generated from it; dashboard and alert rules are checked against it. */
export const METRICS = {
  platform_info: {
    type: "gauge",
    help: "1; the release, and what this process does",
    labels: ["version", "roles"],
  },
  platform_fault: {
    type: "gauge",
    help: "1: this part of the process cannot do its work, as /readyz says; 0: it can",
    labels: ["part"],
  },
  platform_snapshot_age_seconds: {
    type: "gauge",
    help: "Age of what was last read from the database for these metrics (queue, builds, workers)",
    labels: [],
  },
  platform_http_request_duration_seconds: {
    type: "histogram",
    help: "From the head of a request to the end of its answer, the waiting of long polls included; operation none: no such path, and the server's own answers",
    labels: ["api", "operation", "status"],
  },
  platform_queue_executions: {
    type: "gauge",
    help: "Executions that are PENDING, of the whole platform. QUEUE: wait for their turn or for capacity; START_AT: are not to start before a later time; SERVICE_LIMIT: wait for a place of a limit, of their service or of their subscription; SETBACK: could not be started, and pause; NO_WORKER, NO_LARGE_WORKER: no live worker can start them",
    labels: ["reason"],
  },
  platform_queue_oldest_seconds: {
    type: "gauge",
    help: "How long the oldest of them has waited; 0: there are none",
    labels: ["reason"],
  },
  platform_workers: { type: "gauge", help: "Live workers of the whole platform that take work", labels: [] },
  platform_claims_total: { type: "counter", help: "Executions that this worker has claimed", labels: [] },
  platform_claims_given_back_total: {
    type: "counter",
    help: "Claims that went back to the queue; fault: could not be started, stop: the worker stopped, retry: the attempt failed and another one follows",
    labels: ["reason"],
  },
  platform_executions_started_total: {
    type: "counter",
    help: "Executions of this worker whose code may have begun",
    labels: ["organization", "service", "version"],
  },
  platform_executions_ended_total: {
    type: "counter",
    help: "Ends that this worker has written",
    labels: ["organization", "service", "version", "status"],
  },
  platform_executions_failed_total: {
    type: "counter",
    help: "Executions that did not succeed and whose end this process has written: as their worker, by a cancellation of what waited, by the deadline of a start, or in place of a lost worker; OTHER: codes of services",
    labels: ["code"],
  },
  platform_execution_wait_seconds: {
    type: "histogram",
    help: "From the accepted start until user code may have begun",
    labels: ["organization", "service", "version"],
  },
  platform_execution_run_seconds: {
    type: "histogram",
    help: "From when user code may have begun until the outcome was known",
    labels: ["organization", "service", "version"],
  },
  platform_executions_swept_total: {
    type: "counter",
    help: "Executions with an expired lease that this process has settled",
    labels: [],
  },
  platform_worker_executions: {
    type: "gauge",
    help: "Executions that this worker has in hand, of services and of backends",
    labels: ["kind"],
  },
  platform_worker_cpus: {
    type: "gauge",
    help: "vCPUs of this worker for executions of services, and beside them of backends",
    labels: ["kind", "state"],
  },
  platform_worker_memory_bytes: {
    type: "gauge",
    help: "Memory of this worker for them",
    labels: ["kind", "state"],
  },
  platform_zygotes: { type: "gauge", help: "Warm processes of versions", labels: [] },
  platform_children: {
    type: "gauge",
    help: "Processes that were forked for executions; idle: wait for one",
    labels: ["state"],
  },
  platform_leases_total: {
    type: "counter",
    help: "Leases of executions, at each renewal",
    labels: ["outcome"],
  },
  platform_builds: {
    type: "gauge",
    help: "Builds that have not ended, of the whole platform",
    labels: ["status"],
  },
  platform_build_oldest_seconds: {
    type: "gauge",
    help: "How long the oldest PENDING build has waited; 0: there is none",
    labels: [],
  },
  platform_build_duration_seconds: {
    type: "histogram",
    help: "Builds that this builder has ended, from its claim",
    labels: ["status"],
  },
  platform_postgres_connections: {
    type: "gauge",
    help: "Connections of this process by pool",
    labels: ["pool", "state"],
  },
  platform_postgres_waiting: {
    type: "gauge",
    help: "Statements that wait for a connection of the pool",
    labels: ["pool"],
  },
  platform_disk_free_bytes: {
    type: "gauge",
    help: "Free space on the disk of the data directory",
    labels: [],
  },
  platform_disk_size_bytes: { type: "gauge", help: "Size of that disk", labels: [] },
  platform_disk_floor_bytes: {
    type: "gauge",
    help: "What is to stay free on it (--min-free-disk)",
    labels: [],
  },
  platform_spans_total: {
    type: "counter",
    help: "Spans of traces, where any are written: ended, of these exported and failed; the rest waits or was dropped",
    labels: ["outcome"],
  },
  platform_event_loop_delay_seconds: {
    type: "gauge",
    help: "How late the event loop was since the last scrape",
    labels: ["quantile"],
  },
  platform_event_loop_utilization: {
    type: "gauge",
    help: "Part of the time since the last scrape in which the event loop was busy",
    labels: [],
  },
  process_cpu_seconds_total: { type: "counter", help: "Processor time of this process", labels: [] },
  process_resident_memory_bytes: { type: "gauge", help: "Resident memory of this process", labels: [] },
  process_heap_bytes: { type: "gauge", help: "Heap of JavaScript in use", labels: [] },
  process_external_memory_bytes: {
    type: "gauge",
    help: "Memory of buffers outside of that heap",
    labels: [],
  },
  process_start_time_seconds: {
    type: "gauge",
    help: "When this process was started, in seconds since the epoch",
    labels: [],
  },
} as const satisfies Record<string, MetricRule>;

/** The name of a metric. */
export type MetricName = keyof typeof METRICS;

type NamesOf<T extends MetricRule["type"]> = {
  [N in MetricName]: (typeof METRICS)[N]["type"] extends T ? N : never;
}[MetricName];

/** A metric whose samples are single numbers. */
export type ScalarName = NamesOf<"counter" | "gauge">;
/** A metric whose samples are histograms. */
export type HistogramName = NamesOf<"histogram">;
/** The labels of a metric, all of them. */
export type LabelsOf<N extends MetricName> = Readonly<Record<(typeof METRICS)[N]["labels"][number], string>>;
