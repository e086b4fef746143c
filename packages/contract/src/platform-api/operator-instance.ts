import { Type } from "typebox";
import type { Static } from "typebox";
import { READS, WRITES } from "../operation-rows.ts";
import type { OperationTable } from "../operation.ts";
import { PageQuery } from "../service-api.ts";
import { SANDBOX_LEVEL_NAMES } from "../sandbox.ts";
import { Nullable, StringEnum, Timestamp, pageOf } from "../schemas.ts";

const OPERATES = { allows: "operator", scope: "platform" } as const;

const SETTING_SOURCES = ["flag", "environment", "default"] as const;

const Bytes = (description: string) => Type.Number({ minimum: 0, description });
const Count = (description: string) => Type.Integer({ minimum: 0, description });

const ResourcesSchema = Type.Object(
  {
    cpu: Type.Number({ description: "vCPUs" }),
    memory: Type.Number({ description: "GB of memory" }),
  },
  { title: "WorkerResources", description: "vCPUs and memory" },
);

const SandboxSchema = Type.Object(
  {
    level: StringEnum(SANDBOX_LEVEL_NAMES, { description: "A is the strongest level, D is none" }),
    gives: Type.String({ description: "What this level gives, in words" }),
    missing: Type.Array(
      Type.Object(
        {
          piece: Type.String({ description: "A part of the isolation" }),
          why: Type.String({ description: "What was tried, and how it failed" }),
          remedy: Type.String({ description: "What to install, allow or set" }),
        },
        { title: "MissingPiece", description: "A part of the isolation that the machine does not offer" },
      ),
      { description: "What a better isolation needs; empty at level A" },
    ),
  },
  { title: "SandboxReport", description: "How well a process isolates user code" },
);

const DiskSchema = Type.Object(
  {
    freeBytes: Bytes("Bytes that are free"),
    totalBytes: Bytes("Its size"),
  },
  { title: "DiskSpace", description: "The disk of a process's data directory" },
);

const FaultSchema = Type.Object(
  {
    part: Type.String({ description: "What does not work" }),
    detail: Type.String({ description: "Why, and what to do" }),
  },
  { title: "ProcessFault", description: "Something that does not work in a process, as /readyz says" },
);

const ProcessSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the process, until it ends; of its worker as well" }),
    host: Type.String({ description: "Name of the machine" }),
    pid: Type.Integer({ description: "Its number there" }),
    roles: Type.Array(Type.String(), { description: "What it does" }),
    version: Type.String({ description: "Release of the platform" }),
    startedAt: Timestamp("When it was started"),
    uptimeSeconds: Count("For how long it has been running, by its last report"),
    lastSeenAt: Timestamp("When it last reported"),
    live: Type.Boolean({ description: "Whether it has reported within the last 30 seconds" }),
    disk: DiskSchema,
    faults: Type.Array(FaultSchema, { description: "What does not work; empty: nothing" }),
    sandbox: Nullable(SandboxSchema, { description: "How well it isolates user code; null: it runs none" }),
    python: Nullable(Type.String(), { description: "Version of Python; null: it runs no user code" }),
  },
  { title: "PlatformProcess", description: "A process of the platform, as it describes itself" },
);

const SettingSchema = Type.Object(
  {
    name: Type.String({ description: "Flag of the setting, without the hyphens" }),
    variable: Type.String({ description: "The same as an environment variable" }),
    value: Nullable(Type.String(), {
      description:
        "In use; of URLs without what may be a password. null: not set, a secret, or the help says what is used",
    }),
    source: StringEnum(SETTING_SOURCES, { description: "Where the value comes from" }),
    secret: Type.Boolean({ description: "Whether the value is never shown" }),
    help: Type.String({ description: "What it is" }),
  },
  { title: "InstanceSetting", description: "A setting of the process that answers" },
);

const DatabaseSchema = Type.Object(
  {
    kind: StringEnum(["embedded", "external"], { description: "Whether the platform runs it" }),
    version: Type.String({ description: "Of PostgreSQL" }),
    sizeBytes: Bytes("All that it holds"),
    connections: Count("Open connections, of all clients"),
    maxConnections: Count("How many the server allows"),
    oldestTransactionSeconds: Type.Number({ description: "How long the oldest transaction has been open" }),
    answeredInMs: Type.Number({ description: "How long this took" }),
    migration: Type.String({ description: "Name of the last migration" }),
  },
  { title: "InstanceDatabase", description: "The database" },
);

const QueuePartSchema = Type.Object(
  {
    reason: Type.String({ description: "What they wait for, e.g. QUEUE, SERVICE_LIMIT or NO_WORKER" }),
    meaning: Type.String({ description: "The same in words" }),
    executions: Count("How many wait for it"),
    oldestSince: Timestamp(
      "Since when the oldest of them could have begun; with START_AT, when the first of them is to begin",
    ),
  },
  { title: "InstanceQueuePart", description: "Executions that are PENDING for one reason" },
);

const InstanceSchema = Type.Object(
  {
    version: Type.String({ description: "Release of the process that answers" }),
    versions: Type.Array(Type.String(), { description: "Releases of all live processes" }),
    apiUrl: Type.String({ description: "Origin of the platform API" }),
    gatewayUrl: Type.String({ description: "Origin of the gateway" }),
    processes: Type.Array(ProcessSchema, {
      description: "Those that were started first come first; one that was lost for a day",
    }),
    queue: Type.Array(QueuePartSchema, {
      description:
        "What is PENDING, by what it waits for, as of a few seconds ago; the reason whose oldest execution has waited longest comes first",
    }),
    database: DatabaseSchema,
    disk: Type.Object(
      {
        ...DiskSchema.properties,
        floorBytes: Bytes("Bytes that stay free: below that, no uploads, builds and new runs"),
        low: Type.Boolean({ description: "Whether it is below that" }),
      },
      { title: "InstanceDisk", description: "The disk of the process that answers" },
    ),
    signUp: Type.Object(
      {
        mode: Type.String({ description: "Who can create an account: open, invitation or closed" }),
        changeable: Type.Boolean({ description: "Whether it can be changed without a restart" }),
        how: Type.String({ description: "How it is changed" }),
      },
      { title: "InstanceSignUp", description: "Who can create an account" },
    ),
    settings: Type.Array(SettingSchema, { description: "Of the process that answers" }),
  },
  { title: "Instance", description: "The platform as a whole" },
);
/** The platform as a whole. */
export type Instance = Static<typeof InstanceSchema>;

const WorkerSchema = Type.Object(
  {
    id: Type.String({ description: "Identifier of the worker: that of its process, until it ends" }),
    kind: StringEnum(["service", "backend"], {
      description: "Whose executions it runs: those of services, or those of backends beside them",
    }),
    host: Nullable(Type.String(), { description: "Name of the machine; null: not reported" }),
    roles: Type.Array(Type.String(), { description: "What its process does" }),
    version: Nullable(Type.String(), { description: "Release of the platform; null: not reported" }),
    startedAt: Nullable(Timestamp("When it was started"), {
      description: "When its process was started; null: not reported",
    }),
    lastSeenAt: Timestamp("When it last reported"),
    live: Type.Boolean({ description: "Whether it has reported within the last 30 seconds" }),
    draining: Type.Boolean({ description: "Whether it takes no more work" }),
    drainingSince: Nullable(Timestamp("Since when it takes none"), {
      description: "Since when it takes no more work; null: it does",
    }),
    capacity: ResourcesSchema,
    used: ResourcesSchema,
    running: Count("Executions that it runs or prepares"),
    builds: Count("Builds that it runs"),
    sandbox: Nullable(SandboxSchema, { description: "How well it isolates user code; null: not reported" }),
    pythons: Type.Array(Type.String(), { description: "Versions of Python that it runs" }),
  },
  { title: "Worker", description: "A process that runs executions" },
);
/** A process that runs executions. */
export type Worker = Static<typeof WorkerSchema>;

const WorkerParams = Type.Object({ workerId: Type.String({ description: "Identifier of the worker" }) });

/** Operations of operators on the instance and its workers. */
export const OPERATOR_INSTANCE_API = {
  getInstance: {
    ...READS,
    ...OPERATES,
    path: "/operator/instance",
    summary: "Describe the platform: processes, what waits and why, database, disk, settings",
    description: "Settings with their source, and never a secret.",
    responses: { 200: { description: "The platform", schema: InstanceSchema } },
  },
  listWorkers: {
    ...READS,
    ...OPERATES,
    path: "/operator/workers",
    summary: "List the workers of the platform",
    description:
      "Those that were started first come first. A worker that stopped is not among them; one that was lost is for an hour.",
    query: PageQuery,
    responses: { 200: { description: "One page", schema: pageOf("WorkerPage", WorkerSchema) } },
  },
  drainWorker: {
    ...WRITES,
    ...OPERATES,
    method: "PUT",
    bodyMode: "none",
    path: "/operator/workers/{workerId}/drain",
    audit: "worker.drain",
    summary: "Have a worker take no more work",
    description:
      "It claims no more executions, nor do builds begin in its process; what it runs goes on to its end, so `running` and `builds` fall to 0. Holds until it is taken back or the process ends.",
    params: WorkerParams,
    responses: { 200: { description: "It takes no more work", schema: WorkerSchema } },
    problems: ["NOT_FOUND"],
  },
  resumeWorker: {
    ...WRITES,
    ...OPERATES,
    method: "DELETE",
    bodyMode: "none",
    path: "/operator/workers/{workerId}/drain",
    audit: "worker.resume",
    summary: "Have a worker take work again",
    description: "Within seconds.",
    params: WorkerParams,
    responses: { 200: { description: "It takes work", schema: WorkerSchema } },
    problems: ["NOT_FOUND"],
  },
} as const satisfies OperationTable;
