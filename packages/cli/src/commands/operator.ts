import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";

type Worker = Awaited<ReturnType<PlatformClient["listWorkers"]>>["items"][number];
type Instance = Awaited<ReturnType<PlatformClient["getInstance"]>>;

const BYTES_OF_GB = 1_073_741_824;
const WORKER = {
  description: "Id of the worker, as 'platform operator workers' shows it",
  required: true,
} as const;

/** `platform operator instance`. */
export const showInstanceCommand = defineCommand({
  name: "operator instance",
  summary: "Show processes, what waits and why, database, disk and settings of the platform",
  description: [
    "For operators of the platform. Settings are those of the process that answers, without secrets; those that have their standard value are left out unless --all is given.",
  ],
  arguments: {},
  options: { all: { kind: "flag", description: "All settings, also those with their standard value" } },
  examples: [
    { command: "platform operator instance", comment: "As text" },
    { command: "platform operator instance --json", comment: "Everything, for a program" },
  ],
  run: async (context, { options: { all } }) => {
    const { client } = await openSession(context);
    const instance = await client.getInstance({});
    printInstance(context, instance, all);
    return { json: instance, succeeded: true };
  },
});

function printInstance({ output }: CommandContext, instance: Instance, all: boolean): void {
  const { database, disk, signUp } = instance;
  output.print(`Version    ${instance.versions.join(", ") || instance.version}`);
  output.print(`API        ${cleanText(instance.apiUrl)}`);
  output.print(`Gateway    ${cleanText(instance.gatewayUrl)}`);
  output.print(
    `Database   PostgreSQL ${cleanText(database.version)} (${database.kind}), ${formatGb(database.sizeBytes)} GB, ${database.connections} of ${database.maxConnections} connections`,
  );
  output.print(
    `Disk       ${formatGb(disk.freeBytes)} of ${formatGb(disk.totalBytes)} GB free${disk.low ? ": too little for uploads, builds and new runs" : ""}`,
  );
  output.print(`Sign-up    ${signUp.mode}`);
  const waiting = instance.queue.map(
    ({ executions, reason, meaning, oldestSince }) =>
      `${executions} ${reason}, the oldest since ${oldestSince}: ${cleanText(meaning)}`,
  );
  for (const line of waiting.length > 0 ? waiting : ["nothing"]) output.print(`Waiting    ${line}`);
  output.print("");
  output.printTable(
    ["PROCESS", "HOST", "ROLES", "VERSION", "UP", "SEEN", "ISOLATION", "FAULTS"],
    instance.processes.map((process) => [
      process.id,
      cleanText(process.host),
      process.roles.join(","),
      process.version,
      formatDuration(process.uptimeSeconds),
      process.live ? "now" : `lost, ${process.lastSeenAt}`,
      process.sandbox?.level ?? "-",
      process.faults.map(({ part, detail }) => cleanText(`${part}: ${detail}`)).join(" ") || "-",
    ]),
  );
  const shown = instance.settings.filter(({ source }) => all || source !== "default");
  output.print("");
  output.printTable(
    ["SETTING", "VALUE", "FROM"],
    shown.map(({ name, value, secret, source }) => [
      name,
      secret && source !== "default" ? "(secret)" : cleanText(value ?? "-"),
      source,
    ]),
    "All settings have their standard values.",
  );
}

/** `platform operator storage`. */
export const showStorageCommand = defineCommand({
  name: "operator storage",
  summary: "Show what the platform stores, by kind, and for how long",
  description: ["For operators of the platform. Measured at most once a minute."],
  arguments: {},
  options: {},
  examples: [{ command: "platform operator storage", comment: "A table" }],
  run: async (context) => {
    const { client } = await openSession(context);
    const storage = await client.getStorage({});
    context.output.printTable(
      ["KIND", "COUNT", "GB", "KEPT"],
      storage.kinds.map(({ kind, count, bytes, retention }) => [
        kind,
        String(count),
        formatGb(bytes),
        retention,
      ]),
    );
    return { json: storage, succeeded: true };
  },
});

/** `platform operator workers`. */
export const listWorkersCommand = defineCommand({
  name: "operator workers",
  summary: "List the workers of the platform, with what they run",
  description: [
    "For operators of the platform. A worker that was lost is listed for an hour; one that was stopped is not.",
  ],
  arguments: {},
  options: {},
  examples: [{ command: "platform operator workers", comment: "A table" }],
  run: async (context) => {
    const { client } = await openSession(context);
    const workers = await readAllPages((query) => client.listWorkers({ query }));
    printWorkers(context, workers);
    return { json: workers, succeeded: true };
  },
});

/** `platform operator drain`. */
export const drainWorkerCommand = defineCommand({
  name: "operator drain",
  summary: "Have a worker take no more work",
  description: [
    "For operators of the platform. The worker claims no more executions and builds, and ends what it runs: wait until 'platform operator workers' shows 0 for both, then stop it. Holds until it is taken back or the process ends.",
  ],
  arguments: { worker: WORKER },
  options: {},
  examples: [
    {
      command: "platform operator drain 0f2c6b1e-7a53-4000-8000-000000000001",
      comment: "Before a machine is taken away",
    },
  ],
  run: async (context, { arguments: { worker: workerId } }) => {
    const { client } = await openSession(context);
    const worker = await client.drainWorker({ params: { workerId } });
    printWorkers(context, [worker]);
    return { json: worker, succeeded: true };
  },
});

/** `platform operator resume`. */
export const resumeWorkerCommand = defineCommand({
  name: "operator resume",
  summary: "Have a worker that drains take work again",
  description: ["For operators of the platform. It takes work within seconds."],
  arguments: { worker: WORKER },
  options: {},
  examples: [
    { command: "platform operator resume 0f2c6b1e-7a53-4000-8000-000000000001", comment: "After a drain" },
  ],
  run: async (context, { arguments: { worker: workerId } }) => {
    const { client } = await openSession(context);
    const worker = await client.resumeWorker({ params: { workerId } });
    printWorkers(context, [worker]);
    return { json: worker, succeeded: true };
  },
});

function printWorkers({ output }: CommandContext, workers: readonly Worker[]): void {
  output.printTable(
    ["WORKER", "HOST", "STATE", "RUNNING", "BUILDS", "VCPU", "GB", "ISOLATION", "PYTHON"],
    workers.map((worker) => [
      worker.id,
      cleanText(worker.host ?? "-"),
      describeState(worker),
      String(worker.running),
      String(worker.builds),
      `${worker.used.cpu}/${worker.capacity.cpu}`,
      `${worker.used.memory}/${worker.capacity.memory}`,
      worker.sandbox?.level ?? "-",
      worker.pythons.join(",") || "-",
    ]),
    "No worker runs: executions wait until one is started.",
  );
}

function describeState({ live, draining, lastSeenAt }: Worker): string {
  if (!live) return `lost, ${lastSeenAt}`;
  return draining ? "drains" : "works";
}

function formatGb(bytes: number): string {
  return (bytes / BYTES_OF_GB).toFixed(1);
}

function formatDuration(seconds: number): string {
  const units = [
    [86_400, "d"],
    [3_600, "h"],
    [60, "min"],
  ] as const;
  const [size, unit] = units.find(([least]) => seconds >= least) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${unit}`;
}
