import { availableParallelism, totalmem } from "node:os";
import { resolve } from "node:path";
import { env, argv } from "node:process";
import { parseArgs } from "node:util";
import { DEFAULT_QUEUE_LIMITS } from "@platform/engine/executions/admission";
import type { QueueLimits } from "@platform/engine/executions/admission";
import { SANDBOX_LEVEL_NAMES } from "@platform/contract/sandbox";
import type { SandboxLevel } from "@platform/contract/sandbox";
import { NETWORK_KINDS } from "@platform/contract/network";
import type { NetworkPolicy } from "@platform/engine/python/sandbox/network/network-policy";
import { GIGABYTE } from "@platform/engine/base/bytes";
import { getMessage } from "@platform/engine/base/thrown";
import {
  SettingError,
  addressRanges,
  choice,
  choices,
  number,
  optionalNumber,
  optionalOrigin,
  optionalText,
  findSetting,
  readSetting,
  secretText,
  showSetting,
  text,
} from "./settings.ts";
import type { Setting, SettingInUse } from "./settings.ts";
import { COMMANDS, COMMAND_ARGUMENTS, readCommand } from "./commands.ts";
import type { Command, NamedCommand } from "./commands.ts";
import { ACCOUNT_SETTINGS } from "./account-settings.ts";
import { ORGANISATION_SETTINGS } from "./organisation-settings.ts";
import { LIMIT_SETTINGS, readLimits } from "./limit-settings.ts";
import type { LimitConfig } from "./limit-settings.ts";
import { OBJECT_SETTINGS, readS3 } from "./object-settings.ts";
import type { S3Settings } from "./object-settings.ts";
import { OBSERVABILITY_SETTINGS, readObservability } from "./observability-settings.ts";
import type { ObservabilityConfig } from "./observability-settings.ts";
import { QUANTUM_SETTINGS, readQuantum } from "./quantum-settings.ts";
import type { QuantumConfig } from "./quantum-settings.ts";
import { RETENTION_SETTINGS, readRetention } from "./retention-settings.ts";
import type { RetentionConfig } from "./retention-settings.ts";
import { SECRET_SETTINGS } from "./secret-settings.ts";
import type { MailSettings, OidcSettings, SignUpMode } from "./accounts.ts";
import { createOrigin, readMail, readOidc, requireDatabaseUrl } from "./addresses.ts";
import type { BuildQuota } from "../store/builds/build-quota.ts";

/** The parts of the platform that a process can run; `all` on the command line stands for these four. */
export const ROLES = ["gateway", "control", "worker", "builder"] as const;
/** What a process does: `control` is the platform API, `gateway` the services' API; `worker` runs executions, `builder` builds. */
export type Role = (typeof ROLES)[number];

const PORT = { min: 0, max: 65_535, isWhole: true };
/** What the platform and PostgreSQL themselves need of a machine's memory, in GB. */
const OWN_MEMORY = 1;

/** What zygotes may take beside the executions of a worker, as a part of what those may, unless a setting says otherwise. */
const ZYGOTE_MEMORY_SHARE = 0.25;

/** Every setting of the platform, by the name of its flag. */
const SETTINGS = {
  role: choices(
    "PLATFORM_ROLE",
    "What this process does; several separated by commas",
    [...ROLES, "all"],
    ["all"],
  ),
  "data-dir": text("PLATFORM_DATA_DIR", "DIR", "Where everything is kept", "data"),
  host: text("PLATFORM_HOST", "ADDRESS", "Address to listen on", "127.0.0.1"),
  "gateway-port": number("PLATFORM_GATEWAY_PORT", "Port of the gateway", PORT, 8080),
  "api-port": number("PLATFORM_API_PORT", "Port of the platform API", PORT, 8090),
  "gateway-url": optionalOrigin(
    "PLATFORM_GATEWAY_URL",
    "Origin of the gateway as callers see it; default http://HOST:PORT",
  ),
  "api-url": optionalOrigin(
    "PLATFORM_API_URL",
    "Origin of the platform API as users see it; default http://HOST:PORT",
  ),
  bootstrap: optionalText(
    "PLATFORM_BOOTSTRAP",
    "FILE",
    "On an empty database: create the first user and write the login there",
  ),
  "database-url": secretText(
    "DATABASE_URL",
    "URL",
    "A PostgreSQL (15 or newer) in place of the embedded one",
  ),
  ...ACCOUNT_SETTINGS,
  "postgres-user": optionalText(
    "PLATFORM_POSTGRES_USER",
    "NAME",
    "When root: the user that runs the embedded PostgreSQL",
  ),
  ...OBJECT_SETTINGS,
  ...SECRET_SETTINGS,
  "worker-cpu": number(
    "PLATFORM_WORKER_CPU",
    "vCPUs that the executions of this worker share",
    { min: 0.1, max: 4096, isWhole: false },
    { compute: availableParallelism, text: "those of the machine" },
  ),
  "worker-memory": optionalNumber(
    "PLATFORM_WORKER_MEMORY",
    "GB that the executions of this worker share",
    { min: 0.1, max: 65_536, isWhole: false },
    "that of the machine but for 1 GB and --zygote-memory, at least 1",
  ),
  ...QUANTUM_SETTINGS,
  "zygote-memory": optionalNumber(
    "PLATFORM_ZYGOTE_MEMORY",
    "GB that the warm processes of versions may take together; beyond it the least recently used end",
    { min: 0.05, max: 65_536, isWhole: false },
    "a quarter of --worker-memory",
  ),
  "lease-seconds": number(
    "PLATFORM_LEASE_SECONDS",
    "Seconds without renewal after which a worker counts as lost",
    { min: 1, max: 3600, isWhole: false },
    30,
  ),
  "drain-seconds": number(
    "PLATFORM_DRAIN_SECONDS",
    "Seconds that running executions may go on after SIGTERM",
    { min: 0, max: 86_400, isWhole: false },
    30,
  ),
  ...RETENTION_SETTINGS,
  ...ORGANISATION_SETTINGS,
  "min-free-disk": number(
    "PLATFORM_MIN_FREE_DISK",
    "GB that stay free on the data directory's disk: below that, no uploads, builds and new runs",
    { min: 0, max: 1_000_000, isWhole: false },
    1,
  ),
  "max-queued-per-subscription": number(
    "PLATFORM_MAX_QUEUED_PER_SUBSCRIPTION",
    "How many executions of one subscription (for jobs: organisation) may wait to start; more are refused with 429",
    { min: 1, max: 10_000_000, isWhole: true },
    DEFAULT_QUEUE_LIMITS.perOwner,
  ),
  "max-queued": number(
    "PLATFORM_MAX_QUEUED",
    "How many executions may wait to start in all; more are refused with 503",
    { min: 1, max: 10_000_000, isWhole: true },
    DEFAULT_QUEUE_LIMITS.total,
  ),
  ...LIMIT_SETTINGS,
  "sandbox-min": choice(
    "PLATFORM_SANDBOX_MIN",
    "Least isolation of user code with which workers and builders start, A being the strongest; D: all code is trusted",
    SANDBOX_LEVEL_NAMES,
    "B",
  ),
  "source-builds": choice(
    "PLATFORM_SOURCE_BUILDS",
    "forbidden: requirements are installed from wheels only, also where platform.json sets sourceBuilds",
    ["allowed", "forbidden"],
    "allowed",
  ),
  "network-default": choice(
    "PLATFORM_NETWORK_DEFAULT",
    "Network of services whose platform.json does not say",
    ["egress", "none"],
    "egress",
  ),
  "network-max": choice(
    "PLATFORM_NETWORK_MAX",
    "The most that services may have: the outside, only hosts that they list, or nothing",
    NETWORK_KINDS.toReversed(),
    "egress",
  ),
  "network-open": addressRanges(
    "PLATFORM_NETWORK_OPEN",
    "Private IPv4 ranges that services may reach too, separated by commas, such as 10.1.0.0/16",
  ),
  ...OBSERVABILITY_SETTINGS,
} as const satisfies Record<string, Setting<unknown>>;

type SettingName = keyof typeof SETTINGS;
type Settings = { readonly [K in SettingName]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never };

/** All settings of a process, completed and checked by `readConfig`; frozen. Null: not set, and without a default. */
export interface Config
  extends NamedCommand, LimitConfig, QuantumConfig, RetentionConfig, ObservabilityConfig {
  /** Whether the command prints JSON. */
  readonly json: boolean;
  /** What operators are shown of all of them. */
  readonly shown: readonly SettingInUse[];
  readonly roles: ReadonlySet<Role>;
  /** Absolute. */
  readonly dataDirectory: string;
  readonly host: string;
  readonly gatewayPort: number;
  readonly apiPort: number;
  /** Origin as callers see it, without a path; likewise `apiUrl`. */
  readonly gatewayUrl: string;
  readonly apiUrl: string;
  /** Absolute path of the file for the first login; null: no user is created. */
  readonly bootstrapFile: string | null;
  /** Null: the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  /** User that the embedded PostgreSQL runs as when this process is root. */
  readonly postgresUser: string | null;
  /** Null: objects are files in the data directory. */
  readonly s3: S3Settings | null;
  /** What a cache for the bucket may take; 0: there is none. */
  readonly objectCacheBytes: number;
  readonly signUpMode: SignUpMode;
  /** Null: users sign in with passwords only. */
  readonly oidc: OidcSettings | null;
  /** Null: links for users are in the log. */
  readonly mail: MailSettings | null;
  /** Encrypts at rest; null: a secret is kept in the data directory. */
  readonly secret: string | null;
  /** Opens what is still encrypted with it. */
  readonly otherSecret: string | null;
  /** vCPUs and GB that the executions of a worker share. */
  readonly capacity: { readonly cpu: number; readonly memory: number };
  /** What zygotes and their idle children may take together. */
  readonly zygoteMemoryBytes: number;
  readonly leaseSeconds: number;
  /** Seconds that running executions may go on after SIGTERM. */
  readonly drainSeconds: number;
  readonly buildQuota: BuildQuota;
  /** What the environments of one organisation may take on this host. */
  readonly environmentBytes: number;
  /** What the files of the data pools of one organisation may take, and its results above 1 MB with the files of results. */
  readonly poolBytes: number;
  readonly resultQuotaBytes: number;
  /** Of a file that an execution reads by reference. */
  readonly maxReferenceBytes: number;
  /** Of the result of an execution. */
  readonly maxResultBytes: number;
  /** Of the data pools that an execution reads as folders. */
  readonly poolLimits: { readonly files: number; readonly bytes: number };
  /** Of a file of a data pool. */
  readonly maxFileBytes: number;
  readonly minFreeDiskBytes: number;
  readonly queueLimits: QueueLimits;
  /** A worker or builder that isolates user code less refuses to start. */
  readonly sandboxMin: SandboxLevel;
  /** Whether projects may have packages built from source. */
  readonly allowsSourceBuilds: boolean;
  /** What services may reach. */
  readonly network: NetworkPolicy;
  /** Variables that package installers need, handed to builds and to nothing else. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

function toInputLimits(
  settings: Readonly<Record<keyof typeof ORGANISATION_SETTINGS, number>>,
): Pick<Config, "maxReferenceBytes" | "poolLimits" | "resultQuotaBytes"> {
  return {
    resultQuotaBytes: settings["organization-results"] * GIGABYTE,
    maxReferenceBytes: settings["max-reference"] * GIGABYTE,
    poolLimits: { files: settings["max-pool-files"], bytes: settings["max-pool"] * GIGABYTE },
  };
}

/** Reads flags and environment once. @throws SettingError naming the flag, the value and what is expected */
export function readConfig(): Config {
  const { settings, ...command } = readArguments();
  const memory = settings["worker-memory"] ?? divideMemory(settings["zygote-memory"]);
  const apiUrl = settings["api-url"] ?? createOrigin(settings.host, settings["api-port"]);
  return Object.freeze({
    ...command,
    roles: new Set(settings.role.includes("all") ? ROLES : settings.role.filter((role) => role !== "all")),
    dataDirectory: resolve(settings["data-dir"]),
    host: settings.host,
    gatewayPort: settings["gateway-port"],
    apiPort: settings["api-port"],
    gatewayUrl: settings["gateway-url"] ?? createOrigin(settings.host, settings["gateway-port"]),
    apiUrl,
    signUpMode: settings["sign-up"],
    oidc: readOidc({
      issuer: settings["oidc-issuer"],
      clientId: settings["oidc-client-id"],
      clientSecret: settings["oidc-client-secret"],
      name: settings["oidc-name"],
    }),
    mail: readMail(settings["smtp-url"], settings["mail-from"], apiUrl),
    bootstrapFile: settings.bootstrap === null ? null : resolve(settings.bootstrap),
    databaseUrl: requireDatabaseUrl(settings["database-url"]),
    postgresUser: settings["postgres-user"],
    s3: readS3(settings),
    objectCacheBytes: settings["object-cache"] * GIGABYTE,
    secret: settings.secret,
    otherSecret: settings["other-secret"],
    capacity: Object.freeze({ cpu: settings["worker-cpu"], memory }),
    ...readQuantum(settings),
    zygoteMemoryBytes: (settings["zygote-memory"] ?? memory * ZYGOTE_MEMORY_SHARE) * GIGABYTE,
    leaseSeconds: settings["lease-seconds"],
    drainSeconds: settings["drain-seconds"],
    ...readRetention(settings),
    buildQuota: Object.freeze({
      builds: settings["organization-builds"],
      storedBytes: settings["organization-storage"] * GIGABYTE,
    }),
    poolBytes: settings["organization-data"] * GIGABYTE,
    ...toInputLimits(settings),
    maxResultBytes: Math.floor(settings["max-result"] * GIGABYTE),
    maxFileBytes: settings["max-file"] * GIGABYTE,
    environmentBytes: settings["organization-environments"] * GIGABYTE,
    minFreeDiskBytes: settings["min-free-disk"] * GIGABYTE,
    queueLimits: Object.freeze({
      perOwner: settings["max-queued-per-subscription"],
      total: settings["max-queued"],
    }),
    ...readLimits(settings),
    sandboxMin: settings["sandbox-min"],
    allowsSourceBuilds: settings["source-builds"] === "allowed",
    network: Object.freeze({
      standard: settings["network-default"],
      most: settings["network-max"],
      open: settings["network-open"],
    }),
    ...readObservability(settings),
    environment: env,
  });
}

/**
 * What is left of the machine for executions, in GB: together with its zygotes, a worker has no more than the machine.
 *
 * @param zygotes null: their part of it
 */
function divideMemory(zygotes: number | null): number {
  const room = totalmem() / GIGABYTE - OWN_MEMORY;
  const memory = zygotes === null ? room / (1 + ZYGOTE_MEMORY_SHARE) : room - zygotes;
  // Tenths of a GB, rounded down.
  return Math.max(1, Math.floor(memory * 10) / 10);
}

/** Whether `--help` or `-h` is anywhere among the arguments. */
export function isHelpWanted(): boolean {
  return argv.includes("--help") || argv.includes("-h");
}

/** The settings as a text for people. */
export function describeSettings(): string {
  const rows = Object.entries<Setting<unknown>>(SETTINGS).map(
    ([name, { hint, help, fallback, env: variable }]) =>
      `  --${name} ${hint}\n      ${help}${fallback.text === null ? "" : `; default ${fallback.text}`} [${variable}]`,
  );
  const commands = Object.entries(COMMANDS).map(([name, help]) => {
    const argument = COMMAND_ARGUMENTS[name as Command];
    return `  ${name}${argument === undefined ? "" : ` ${argument}`}\n      ${help}`;
  });
  return [
    "Usage: npm start -- [COMMAND] [SETTING ...]",
    "Without a command the platform serves its roles until it is stopped. Each setting is also an environment variable.",
    `Commands:\n${commands.join("\n")}`,
    `Settings:\n${rows.join("\n")}\n`,
  ].join("\n\n");
}

function readArguments(): Pick<Config, "command" | "argument" | "json" | "shown"> & {
  readonly settings: Settings;
} {
  refuseReplaced();
  const names = Object.keys(SETTINGS) as SettingName[];
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  let flags: Readonly<Record<string, string | boolean | undefined>>;
  let words: readonly string[];
  try {
    ({ values: flags, positionals: words } = parseArgs({
      args: argv.slice(2),
      options: { ...options, json: { type: "boolean" } },
      strict: true,
      allowPositionals: true,
    }));
  } catch (cause) {
    // Node's advice behind the first sentence is about arguments that we do not have.
    const [what = ""] = getMessage(cause).split(". ");
    throw new SettingError(`${what}. --help lists the settings.`, { cause });
  }
  const given = (name: SettingName) => findSetting(SETTINGS[name], flags[name], env);
  const settings = Object.fromEntries(
    names.map((name) => [name, readSetting(name, SETTINGS[name], given(name))]),
  ) as unknown as Settings;
  const json = flags["json"] === true;
  const shown = names.map((name) => showSetting(name, SETTINGS[name], given(name)));
  return { ...readCommand(words, json), json, shown, settings };
}

/** A setting of earlier releases must not be taken for nothing: it may have been what kept code isolated. */
function refuseReplaced(): void {
  const isFlag = argv.some((word) => word === "--sandbox" || word.startsWith("--sandbox="));
  if (isFlag || env["PLATFORM_SANDBOX"])
    throw new SettingError(
      "--sandbox (PLATFORM_SANDBOX) was replaced by --sandbox-min (PLATFORM_SANDBOX_MIN): B in place of bubblewrap, D in place of none.",
    );
}
