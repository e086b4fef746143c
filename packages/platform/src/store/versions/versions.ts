import type { KeptDays } from "@platform/contract/execution";
import type { Network } from "@platform/contract/network";
import type { TargetService } from "@platform/contract/policy";
import type { OutputLimits, ProjectKind, Resources } from "@platform/contract/project";
import type { BackendDescription } from "@platform/contract/quantum-api/description";
import type { ReceiptVersion } from "@platform/engine/executions/receipt";
import { readStoredSchema } from "@platform/engine/input-schema/bounds";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import {
  formatVersion,
  fromStoredResources,
  parseVersion,
  selectMilliseconds,
  toStoredResources,
} from "../base/columns.ts";
import type { StoredResources, VersionNumber } from "../base/columns.ts";
import { listCalledVersions } from "./called-versions.ts";
import type { CalledVersion } from "./called-versions.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { describeTargetService } from "../base/target-service.ts";
import { retireVersion } from "./retire-version.ts";
import { findVersionDetails, listFormerVersions } from "./version-details.ts";
import type { FormerVersion, VersionDetails } from "./version-details.ts";

/** A version to be inserted. */
export interface NewVersion {
  readonly id: string;
  readonly serviceKey: string;
  /** `MAJOR.MINOR.PATCH`. */
  readonly version: string;
  /** Names the archive in the object store. */
  readonly archiveHash: string;
  /** Equal for equal projects: unchanged content makes no new version, but of an external backend. */
  readonly contentHash: string;
  /** vCPUs and GB that one execution needs. */
  readonly resources: Resources;
  readonly timeoutSeconds: number;
  readonly startMode: "auto" | "spawn";
  /** What its project asks to reach; null: nothing in particular. */
  readonly network: Network | null;
  /** What one execution may return and print; null: what the platform allows. */
  readonly output: OutputLimits | null;
  readonly inputSchema: Record<string, unknown> | null;
  readonly outputSchema: Record<string, unknown> | null;
  readonly description: string;
  /** Hash of its requirements and the Python that it was built with; missing: of a former release. */
  readonly built?: BuiltVersion;
  /** An input to try it with; missing or null: there is none. */
  readonly exampleInput?: ExampleInput | null;
  /** What it says of itself as a backend; missing or null: it is of a service. */
  readonly backend?: BackendVersion | null;
}

/** A version of a backend: the id that its project gives it, and what `describe` has returned. */
export interface BackendVersion {
  readonly id: string;
  /** Whether its executions wait for jobs elsewhere; missing: they do not. */
  readonly external?: boolean;
  readonly description: BackendDescription;
}

/** What a version was built of. */
interface BuiltVersion extends NonNullable<ReceiptVersion["built"]> {
  /** Canonical text of what was installed; missing: it is not known. */
  readonly requirements?: string;
}

/** `data` and `params` of a start. */
export interface ExampleInput {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** A version; times in milliseconds since the epoch, `retiredAt` null while it is live. */
export interface VersionRecord extends NewVersion {
  readonly kind: ProjectKind;
  /** Whether its executions wait for jobs elsewhere. */
  readonly isExternal?: boolean;
  /** Whether its executions have a price. */
  readonly isPriced?: boolean;
  readonly createdAt: number;
  readonly retiredAt: number | null;
  /** For how long its service keeps executions. */
  readonly kept: KeptDays;
  readonly service: TargetService;
}

/** A version, with the organisation that its service belongs to. */
export interface OwnedVersionRecord extends VersionRecord {
  readonly organisationId: string;
}

/** The archive of a version in the object store. */
interface VersionArchive {
  readonly hash: string;
  readonly bytes: number | null;
  readonly service: string;
}

/** Versions of services. Immutable once inserted, except that they can be retired. */
export interface VersionStore {
  /** Newest first; empty when the service is not the organisation's. */
  readonly list: (
    organisationId: string,
    serviceKey: string,
    page: PageRequest,
  ) => Promise<Page<VersionRecord>>;
  /** The version before each of these, by id: the one with the next lower number, whether or not it is live. */
  readonly listFormer: (
    organisationId: string,
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, FormerVersion>>;
  readonly find: (
    organisationId: string,
    serviceKey: string,
    version: string,
  ) => Promise<VersionRecord | null>;
  /** The highest live version; with a major number, of these. */
  readonly findLatest: (
    organisationId: string,
    serviceKey: string,
    major?: number,
  ) => Promise<VersionRecord | null>;
  /** The highest number that a version (also a retired one) or an unfinished build has. */
  readonly findHighest: (organisationId: string, serviceKey: string) => Promise<string | null>;
  /** What subscriptions call which a new version with this number would move to itself, the highest first. */
  readonly listCalled: (
    organisationId: string,
    serviceKey: string,
    number: VersionNumber,
  ) => Promise<readonly CalledVersion[]>;
  /** For workers, which have claimed an execution of it, so of any organisation. */
  readonly findById: (id: string) => Promise<OwnedVersionRecord | null>;
  /** The archive of a version, and the name of its service; null: the organisation has no such version. `bytes` null: it is not known. */
  readonly findArchive: (
    organisationId: string,
    serviceKey: string,
    version: string,
  ) => Promise<VersionArchive | null>;
  /** What is shown of a version besides; null: the organisation has no such version. */
  readonly findDetails: (
    organisationId: string,
    serviceKey: string,
    version: string,
  ) => Promise<VersionDetails | null>;
  /** What receipts say of it, of any organisation. */
  readonly findForReceipt: (id: string) => Promise<ReceiptVersion | null>;
  /** Retires a version: it takes no new executions. Repeating it changes nothing. Null: there is no such version. */
  readonly retire: (
    organisationId: string,
    serviceKey: string,
    version: string,
  ) => Promise<VersionRecord | null>;
}

interface Row extends StoredResources, VersionNumber, Omit<VersionRecord, "version" | "resources"> {}

/** SQL: what the project of a row of `version` is. */
export const selectKind = (alias: string): string =>
  `case when ${alias}.backend is null then 'service' else 'backend' end`;

/** SQL: whether a row of `version` is of an external backend. */
export const selectExternal = (alias: string): string =>
  `coalesce((${alias}.backend -> 'external')::boolean, false)`;

/** SQL: whether executions of a row of `version` have a price. */
export const selectPriced = (alias: string): string =>
  `(${alias}.backend #> '{description,price}') is not null`;

const COLUMNS = `v.id, v.service_key as "serviceKey", v.major, v.minor, v.patch, v.archive_hash as "archiveHash",
  v.content_hash as "contentHash", v.cpu_milli, v.memory_milli, v.timeout_seconds as "timeoutSeconds",
  v.start_mode as "startMode", v.network, v.output, v.input_schema as "inputSchema", v.output_schema as "outputSchema", v.description,
  ${selectKind("v")} as kind, ${selectExternal("v")} as "isExternal", ${selectPriced("v")} as "isPriced",
  (select ${describeTargetService("r")} from service r where r.key = v.service_key) as service,
  (select json_build_object('result', k.result_days, 'log', k.log_days) from service k where k.key = v.service_key) as kept,
  ${selectMilliseconds("v.created_at")} as "createdAt", ${selectMilliseconds("v.retired_at")} as "retiredAt"`;

const OF_ORGANISATION = `from version v join service s on s.key = v.service_key
  where v.service_key = $1 and s.organisation_id = $2`;

/** The store of versions in PostgreSQL. */
export function createVersionStore(database: Database): VersionStore {
  return {
    list: (organisationId, serviceKey, page) => listVersions(database, organisationId, serviceKey, page),
    listFormer: (organisationId, ids) => listFormerVersions(database, organisationId, ids),
    find: (organisationId, serviceKey, version) =>
      findByNumber(database, organisationId, { serviceKey, version }),
    findLatest: (organisationId, serviceKey, major) =>
      findLatest(database, organisationId, serviceKey, major),
    findHighest: (organisationId, serviceKey) => findHighest(database, organisationId, serviceKey),
    listCalled: (organisationId, serviceKey, number) =>
      listCalledVersions(database, { organisationId, serviceKey }, number),
    findById: (id) => findOwned(database, id),
    findArchive: (organisationId, serviceKey, version) =>
      findArchive(database, organisationId, { serviceKey, version }),
    findDetails: (organisationId, serviceKey, version) =>
      findVersionDetails(database, organisationId, { serviceKey, version }),
    findForReceipt: (id) => findForReceipt(database, id),
    retire: async (organisationId, serviceKey, version) => {
      await retireVersion(database, organisationId, { serviceKey, version });
      return await findByNumber(database, organisationId, { serviceKey, version });
    },
  };
}

function toRecord({ cpu_milli, memory_milli, major, minor, patch, ...row }: Row): VersionRecord {
  return {
    ...row,
    version: formatVersion({ major, minor, patch }),
    resources: fromStoredResources({ cpu_milli, memory_milli }),
    inputSchema: readStoredSchema(row.inputSchema),
    outputSchema: readStoredSchema(row.outputSchema),
  };
}

async function findLatest(
  database: Database,
  organisationId: string,
  serviceKey: string,
  major: number | undefined,
): Promise<VersionRecord | null> {
  if (!isUuid(serviceKey)) return null;
  const [row] = await database.query<Row>({
    text: `select ${COLUMNS} ${OF_ORGANISATION} and v.retired_at is null and ($3::int is null or v.major = $3)
      order by v.major desc, v.minor desc, v.patch desc limit 1`,
    values: [serviceKey, organisationId, major ?? null],
    idempotent: true,
  });
  return row === undefined ? null : toRecord(row);
}

async function findOwned(database: Database, id: string): Promise<OwnedVersionRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await database.query<Row & { readonly organisationId: string }>({
    text: `select ${COLUMNS}, s.organisation_id as "organisationId"
      from version v join service s on s.key = v.service_key where v.id = $1`,
    values: [id],
    idempotent: true,
  });
  return row === undefined ? null : { ...toRecord(row), organisationId: row.organisationId };
}

async function findArchive(
  database: Database,
  organisationId: string,
  { serviceKey, version }: Pick<VersionRecord, "serviceKey" | "version">,
): Promise<VersionArchive | null> {
  const number = parseVersion(version);
  if (number === null || !isUuid(serviceKey)) return null;
  const [row] = await database.query<VersionArchive>({
    text: `select v.archive_hash as hash, o.bytes::float8 as bytes, s.name as service
      from version v join service s on s.key = v.service_key left join object o on o.hash = v.archive_hash
      where v.service_key = $1 and s.organisation_id = $2 and v.major = $3 and v.minor = $4 and v.patch = $5`,
    values: [serviceKey, organisationId, number.major, number.minor, number.patch],
    idempotent: true,
  });
  return row ?? null;
}

interface ReceiptRow extends VersionNumber {
  readonly serviceKey: string;
  readonly service: string;
  readonly contentHash: string;
  readonly requirementsHash: string | null;
  readonly python: string | null;
}

async function findForReceipt(database: Database, id: string): Promise<ReceiptVersion | null> {
  if (!isUuid(id)) return null;
  const [row] = await database.query<ReceiptRow>({
    text: `select v.service_key as "serviceKey", s.name as service, v.major, v.minor, v.patch, v.content_hash as "contentHash",
        v.requirements_hash as "requirementsHash", v.python
      from version v join service s on s.key = v.service_key where v.id = $1`,
    values: [id],
    idempotent: true,
  });
  if (row === undefined) return null;
  const { serviceKey, service, contentHash, requirementsHash, python } = row;
  return {
    serviceKey,
    service,
    version: formatVersion(row),
    contentHash,
    ...(requirementsHash === null || python === null ? {} : { built: { requirementsHash, python } }),
  };
}

/** Since the epoch. */
const isMilliseconds = (key: string) => /^\d{1,15}$/u.test(key);

/** The values of VERSION_COLUMNS, for the insert of a version at the end of a build. */
export function toVersionValues(version: NewVersion): readonly unknown[] {
  const number = parseVersion(version.version);
  if (number === null) throw new TypeError(`${version.version} is not MAJOR.MINOR.PATCH`);
  const { cpu_milli, memory_milli } = toStoredResources(version.resources);
  return [
    version.id,
    version.serviceKey,
    number.major,
    number.minor,
    number.patch,
    version.archiveHash,
    version.contentHash,
    cpu_milli,
    memory_milli,
    version.timeoutSeconds,
    version.startMode,
    toJson(version.network),
    toJson(version.output),
    toJson(version.inputSchema),
    toJson(version.outputSchema),
    version.description,
    version.built?.requirementsHash ?? null,
    version.built?.python ?? null,
    version.built?.requirements ?? null,
    toJson(version.exampleInput ?? null),
    toJson(version.backend ?? null),
  ];
}

function toJson(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** The columns of an insert into `version`. */
export const VERSION_COLUMNS = `id, service_key, major, minor, patch, archive_hash, content_hash, cpu_milli, memory_milli,
  timeout_seconds, start_mode, network, output, input_schema, output_schema, description, requirements_hash, python,
  requirements, example_input, backend`;

async function listVersions(
  database: Database,
  organisationId: string,
  serviceKey: string,
  page: PageRequest,
): Promise<Page<VersionRecord>> {
  const [before, beforeId] = decodeCursor(page.cursor, [isMilliseconds, isUuid]) ?? [null, null];
  if (!isUuid(serviceKey)) return { items: [], nextCursor: null };
  const rows = await database.query<Row>({
    // Not by the ids alone: they are of the clocks of the hosts that build, which differ.
    text: `select ${COLUMNS} ${OF_ORGANISATION}
        and ($3::float8 is null or (v.created_at, v.id) < (to_timestamp($3::float8 / 1000), $4::uuid))
      order by v.created_at desc, v.id desc limit $5`,
    values: [serviceKey, organisationId, before, beforeId, page.limit + 1],
    idempotent: true,
  });
  return cutPage(rows.map(toRecord), page.limit, ({ createdAt, id }) => [String(createdAt), id]);
}

const FIND = `select ${COLUMNS} ${OF_ORGANISATION} and v.major = $3 and v.minor = $4 and v.patch = $5`;

/** The version of this number; null: the organisation has none. */
async function findByNumber(
  database: Database,
  organisationId: string,
  { serviceKey, version }: Pick<VersionRecord, "serviceKey" | "version">,
): Promise<VersionRecord | null> {
  const number = parseVersion(version);
  if (number === null || !isUuid(serviceKey)) return null;
  const [row] = await database.query<Row>({
    text: FIND,
    values: [serviceKey, organisationId, number.major, number.minor, number.patch],
    idempotent: true,
  });
  return row === undefined ? null : toRecord(row);
}

async function findHighest(
  database: Database,
  organisationId: string,
  serviceKey: string,
): Promise<string | null> {
  if (!isUuid(serviceKey)) return null;
  const [row] = await database.query<VersionNumber>({
    text: `select n.major, n.minor, n.patch from service s
      cross join lateral (
        select major, minor, patch from version where service_key = s.key
        union all
        select major, minor, patch from build where service_key = s.key and status in ('PENDING', 'RUNNING')
      ) n
      where s.key = $1 and s.organisation_id = $2
      order by n.major desc, n.minor desc, n.patch desc limit 1`,
    values: [serviceKey, organisationId],
    idempotent: true,
  });
  return row === undefined ? null : formatVersion(row);
}
