import type { KeptDays } from "@platform/contract/execution";
import type { TargetService } from "@platform/contract/policy";
import type { ProjectKind, Resources } from "@platform/contract/project";
import { readStoredSchema } from "@platform/engine/input-schema/bounds";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../postgres/database.ts";
import { ACCESS_CHANNEL } from "./base/channels.ts";
import { fromStoredResources, parseVersion } from "./base/columns.ts";
import type { VersionNumber } from "./base/columns.ts";
import type { StoredResources } from "./base/columns.ts";
import { describeTargetService } from "./base/target-service.ts";
import { selectExternal, selectKind, selectPriced } from "./versions/versions.ts";

/** A version of the service that a grant allows to call. */
export interface GrantedVersion {
  readonly id: string;
  /** `MAJOR.MINOR.PATCH`. */
  readonly version: string;
  readonly kind: ProjectKind;
  /** Whether its executions wait for jobs elsewhere. */
  readonly isExternal?: boolean;
  /** Whether its executions have a price: the quantum API alone starts them. */
  readonly isPriced?: boolean;
  /** vCPUs and GB (1024^3 bytes) that one execution needs. */
  readonly resources: Resources;
  readonly timeoutSeconds: number;
  /** JSON Schema of the start body's inputs; null: the version has none. */
  readonly inputSchema: Record<string, unknown> | null;
  /** Takes no new executions. */
  readonly isRetired: boolean;
  /** For how long the service keeps executions. */
  readonly kept: KeptDays;
  readonly service: TargetService;
}

/** What an application's call of a service is checked against. */
export interface Grant {
  readonly subscriptionId: string;
  /** Of the application, and so of its subscription. */
  readonly organisationId: string;
  readonly serviceName: string;
  /** Takes no new executions. */
  readonly isPaused: boolean;
  /** Why the provider has ended it: it takes no new executions; null: it has not. */
  readonly endReason: string | null;
  /** Whether the application may read the logs of its executions. */
  readonly areLogsShown: boolean;
  /** Starts in one minute that its plan allows; null: no limit of its own. */
  readonly startsPerMinute: number | null;
  /** The requested one, also when it is retired; null: the service has no such version. */
  readonly version: GrantedVersion | null;
}

/** Why an application may not call a service. */
export type Refusal = "SERVICE_NOT_FOUND" | "APPLICATION_DELETED" | "KEY_REVOKED" | "NOT_SUBSCRIBED";

/** The grant, or why there is none. */
export type GrantAnswer =
  | { readonly granted: true; readonly grant: Grant }
  | { readonly granted: false; readonly reason: Refusal };

/** Whose application it is, or why it may not. */
export type ApplicationAnswer =
  | { readonly granted: true; readonly organisationId: string }
  | { readonly granted: false; readonly reason: "APPLICATION_DELETED" | "KEY_REVOKED" };

/** Which application wants to call which version of which service. */
interface GrantQuestion {
  readonly applicationId: string;
  /** The access key that the token was issued for. */
  readonly keyId: string;
  readonly serviceKey: string;
  /** `MAJOR.MINOR.PATCH`. */
  readonly version: string;
}

/** For which application or service grants may have changed; null: for any, so a cache must drop everything. */
export type AccessChange = { readonly applicationId: string } | { readonly serviceKey: string } | null;

/** Answers who may call which service. */
export interface AccessStore {
  /** Whether this application may call this service with this key, and what the version is. One round trip. */
  readonly findGrant: (question: GrantQuestion) => Promise<GrantAnswer>;
  /** Whether this application may read what is its own with this key. One round trip. */
  readonly findApplication: (
    subject: Pick<GrantQuestion, "applicationId" | "keyId">,
  ) => Promise<ApplicationAnswer>;
  /** Calls back within a second of each change, also where notifications are lost, and without one then; returns a function that stops it. */
  readonly subscribe: (listener: (change: AccessChange) => void) => () => void;
}

/** The store of grants in PostgreSQL. */
export function createAccessStore(database: Database): AccessStore {
  return {
    findGrant: (question) => findGrant(database, question),
    findApplication: (subject) => findApplication(database, subject),
    subscribe: (listener) =>
      database.listen(ACCESS_CHANNEL, {
        onNotify: (payload) => listener(parseChange(payload)),
        onReset: () => listener(null),
        onSilence: () => listener(null),
      }),
  };
}

async function findApplication(
  database: Database,
  { applicationId, keyId }: Pick<GrantQuestion, "applicationId" | "keyId">,
): Promise<ApplicationAnswer> {
  if (!isUuid(applicationId)) return { granted: false, reason: "APPLICATION_DELETED" };
  const [row] = await database.query<{ readonly organisationId: string; readonly isKeyActive: boolean }>({
    name: "access-find-application",
    text: `select a.organisation_id as "organisationId", ${IS_KEY_ACTIVE} as "isKeyActive"
      from application a where a.id = $1 and a.deleted_at is null`,
    values: [applicationId, keyId],
    idempotent: true,
  });
  if (row === undefined) return { granted: false, reason: "APPLICATION_DELETED" };
  if (!row.isKeyActive) return { granted: false, reason: "KEY_REVOKED" };
  return { granted: true, organisationId: row.organisationId };
}

function parseChange(payload: string): AccessChange {
  const [kind, id] = payload.split(":");
  if (id === undefined) return null;
  if (kind === "application") return { applicationId: id };
  return kind === "service" ? { serviceKey: id } : null;
}

/** A GrantedVersion as statements return it. */
export interface StoredVersion extends StoredResources, Omit<GrantedVersion, "resources"> {}

/** SQL: a version as `toGrantedVersion` takes it; aliases of rows of `version` and `service`. */
export function describeGrantedVersion(version: string, service: string): string {
  return `json_build_object(
            'id', ${version}.id, 'version', concat_ws('.', ${version}.major, ${version}.minor, ${version}.patch),
            'cpu_milli', ${version}.cpu_milli, 'memory_milli', ${version}.memory_milli, 'timeoutSeconds', ${version}.timeout_seconds,
            'kind', ${selectKind(version)}, 'isExternal', ${selectExternal(version)}, 'isPriced', ${selectPriced(version)}, 'inputSchema', ${version}.input_schema, 'isRetired', ${version}.retired_at is not null,
            'service', ${describeTargetService(service)}, 'kept', json_build_object('result', ${service}.result_days, 'log', ${service}.log_days))`;
}

interface Row {
  /** Of the application; null when it was deleted or never existed. */
  readonly organisationId: string | null;
  readonly isKeyActive: boolean;
  readonly subscription:
    | (Pick<Grant, "isPaused" | "endReason" | "startsPerMinute"> & { readonly id: string })
    | null;
  readonly serviceName: string;
  readonly providerId: string;
  readonly logs: "caller" | "provider";
  readonly version: StoredVersion | null;
}

async function findGrant(database: Database, question: GrantQuestion): Promise<GrantAnswer> {
  const { applicationId, serviceKey, version } = question;
  const number = parseVersion(version);
  if (number === null) return refuse("SERVICE_NOT_FOUND");
  if (!isUuid(serviceKey)) return refuse("SERVICE_NOT_FOUND");
  if (!isUuid(applicationId)) return refuse("APPLICATION_DELETED");
  const [row] = await readRow(database, question, number);
  if (row === undefined) return refuse("SERVICE_NOT_FOUND");
  if (row.organisationId === null) return refuse("APPLICATION_DELETED");
  if (!row.isKeyActive) return refuse("KEY_REVOKED");
  if (row.subscription === null) return refuse("NOT_SUBSCRIBED");
  return { granted: true, grant: toGrant(row, row.subscription, row.organisationId) };
}

/** SQL: of the application $1 the key $2. */
const IS_KEY_ACTIVE = `exists (select 1 from access_key k where k.id = $2 and k.application_id = $1 and k.revoked_at is null
          and (k.expires_at is null or k.expires_at > now()))`;

/**
 * One statement, so that the whole answer is of one moment: never a subscription from before a revocation with a key from
 * after it. Each condition is a column instead of a join condition, so that a refusal can name its reason; only an unknown
 * service gives no row. A key counts only for its own application. Organisations are not
 * compared for a subscription, nor is the publication: who may subscribe is decided when one is made (subscribe.ts). But a
 * service that is neither in the marketplace, nor of the application's organisation, nor was ever subscribed to is an unknown one.
 * Retired versions, and subscriptions that are paused or that the provider has ended, are included, so that a call of one gets an error of its own.
 */
function readRow(
  database: Database,
  { applicationId, keyId, serviceKey }: GrantQuestion,
  { major, minor, patch }: VersionNumber,
): Promise<readonly Row[]> {
  return database.query<Row>({
    name: "access-find-grant",
    text: `select s.name as "serviceName", s.organisation_id as "providerId", s.logs,
        (select a.organisation_id from application a where a.id = $1 and a.deleted_at is null) as "organisationId",
        ${IS_KEY_ACTIVE} as "isKeyActive",
        (select json_build_object('id', b.id, 'isPaused', b.paused_at is not null, 'endReason', b.end_reason,
            'startsPerMinute', (select p.starts_per_minute from plan p where p.id = b.plan_id)) from subscription b
          where b.application_id = $1 and b.service_key = s.key and b.cancelled_at is null) as subscription,
        (select ${describeGrantedVersion("v", "s")}
          from version v where v.service_key = s.key and v.major = $4 and v.minor = $5 and v.patch = $6) as version
      from service s where s.key = $3 and (s.publication = 'marketplace' or exists (
        select 1 from application a where a.id = $1 and (a.organisation_id = s.organisation_id or exists (
          select 1 from subscription b where b.application_id = a.id and b.service_key = s.key))))`,
    values: [applicationId, keyId, serviceKey, major, minor, patch],
    idempotent: true,
  });
}

function refuse(reason: Refusal): GrantAnswer {
  return { granted: false, reason };
}

function toGrant(row: Row, subscription: NonNullable<Row["subscription"]>, organisationId: string): Grant {
  return {
    subscriptionId: subscription.id,
    organisationId,
    serviceName: row.serviceName,
    isPaused: subscription.isPaused,
    endReason: subscription.endReason,
    areLogsShown: row.logs === "caller" || row.providerId === organisationId,
    startsPerMinute: subscription.startsPerMinute,
    version: row.version && toGrantedVersion(row.version),
  };
}

/** The version of a stored one. */
export function toGrantedVersion({ cpu_milli, memory_milli, ...version }: StoredVersion): GrantedVersion {
  return {
    ...version,
    inputSchema: readStoredSchema(version.inputSchema),
    resources: fromStoredResources({ cpu_milli, memory_milli }),
  };
}
