import type { BackendDescription } from "@platform/contract/quantum-api/description";
import { Problem } from "@platform/contract/problems";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../postgres/database.ts";
import { noteAudit, noteUnchanged } from "./audit/trail.ts";
import type { AuditNote } from "./audit/trail.ts";
import { formatVersion, selectMilliseconds } from "./base/columns.ts";
import type { VersionNumber } from "./base/columns.ts";

/** An id by which all organisations may use a backend. */
export interface PlatformBackendRecord {
  readonly id: string;
  /** Null: it is no alias. */
  readonly aliasOf: string | null;
  readonly serviceKey: string;
  readonly serviceName: string;
  readonly organisationId: string;
  readonly organisationName: string;
  /** MAJOR.MINOR.PATCH; null: no version is live that is a backend. */
  readonly version: string | null;
  /** Milliseconds since the epoch. */
  readonly sharedAt: number;
}

/** What an id stands for. */
export type BackendTarget = { readonly serviceKey: string } | { readonly aliasOf: string };

/** Backends of the whole platform, for its operators. */
export interface PlatformBackendStore {
  /** By id. */
  readonly list: () => Promise<readonly PlatformBackendRecord[]>;
  /** Repeating it changes nothing. `by`: id of the operator. @throws Problem SERVICE_NOT_FOUND, BACKEND_NOT_FOUND, INVALID_INPUT, CONFLICT */
  readonly put: (id: string, target: BackendTarget, by: string) => Promise<PlatformBackendRecord>;
  /** With its aliases. False: there is none of this id. */
  readonly remove: (id: string, by: string) => Promise<boolean>;
}

/** More than a platform has. */
const MOST = 1_000;

/**
 * SQL: what an organisation may name a backend by: its own services, and what operators have shared. $1 is the organisation. Of one id, the one with the
 * lowest `place` counts that has a live version: its own goes first, so nobody else decides what its jobs are run by.
 */
export const NAMED_BACKENDS = `(
    select s.backend_id as id, s.key as service_key, null::text as alias_of, 0 as place
    from service s where s.organisation_id = $1::uuid and s.backend_id is not null
    union all
    select p.id, coalesce(p.service_key, t.service_key), p.alias_of, 1
    from platform_backend p left join platform_backend t on t.id = p.alias_of
  )`;

/** SQL: whether all organisations may use the service `s`. */
export const IS_SHARED = "exists (select 1 from platform_backend p where p.service_key = s.key)";

/** SQL: the version of the service `s` that runs new jobs. */
export const LATEST_VERSION = `(
    select v.* from version v where v.service_key = s.key and v.retired_at is null
    order by v.major desc, v.minor desc, v.patch desc limit 1
  )`;

const select = (
  condition: string,
) => `select p.id, p.alias_of as "aliasOf", s.key as "serviceKey", s.name as "serviceName", o.id as "organisationId",
    o.name as "organisationName", case when v.backend is not null then json_build_object('major', v.major, 'minor', v.minor, 'patch', v.patch) end as number,
    ${selectMilliseconds("p.shared_at")} as "sharedAt"
  from platform_backend p left join platform_backend t on t.id = p.alias_of
    join service s on s.key = coalesce(p.service_key, t.service_key) join organisation o on o.id = s.organisation_id
    left join lateral ${LATEST_VERSION} v on true
  where ${condition} order by p.id limit ${MOST}`;

type Row = Omit<PlatformBackendRecord, "version"> & { readonly number: VersionNumber | null };

/** The same in PostgreSQL. */
export function createPlatformBackendStore(database: Database): PlatformBackendStore {
  return {
    list: async () => (await database.query<Row>({ text: select("true"), idempotent: true })).map(toRecord),
    put: async (id, target, by) => {
      await database.transaction((run) => put(run, { id, by }, target));
      const [row] = await database.query<Row>({ text: select("p.id = $1"), values: [id], idempotent: true });
      // Taken back by another operator in this moment.
      if (row === undefined) throw new Problem("CONFLICT", `${id} was taken back meanwhile.`);
      return toRecord(row);
    },
    remove: (id, by) => database.transaction((run) => remove(run, { id, by })),
  };
}

/** Which id, and the operator's. */
interface ByOperator {
  readonly id: string;
  readonly by: string;
}

async function put(run: RunStatement, { id, by }: ByOperator, target: BackendTarget): Promise<void> {
  const service = await ("aliasOf" in target ? findAliased(run, target.aliasOf) : findService(run, target));
  const values = "aliasOf" in target ? [id, null, target.aliasOf] : [id, service.key, null];
  noteAudit({
    ...(await findLogs(run, by, service.organisationId)),
    changes: [
      "aliasOf" in target
        ? { field: "aliasOf", before: null, after: target.aliasOf }
        : { field: "serviceKey", before: null, after: service.key },
    ],
  });
  const made = await run({
    text: `insert into platform_backend (id, service_key, alias_of) values ($1, $2, $3) on conflict do nothing returning id`,
    values,
    audited: ["backend.share"],
  });
  if (made.length > 0) return;
  const [same] = await run({
    text: `select 1 from platform_backend where id = $1 and service_key is not distinct from $2::uuid and alias_of is not distinct from $3`,
    values,
  });
  if (same === undefined)
    throw new Problem("CONFLICT", `${id} is a backend of the platform already; take it back first.`);
  noteUnchanged();
}

interface Target {
  readonly key: string;
  readonly organisationId: string;
  readonly type: BackendDescription["type"] | null;
}

const describeTarget = (from: string) => `select s.key, s.organisation_id as "organisationId",
    v.backend -> 'description' ->> 'type' as type
  from ${from} left join lateral ${LATEST_VERSION} v on true`;

async function findService(
  run: RunStatement,
  { serviceKey }: { readonly serviceKey: string },
): Promise<Target> {
  if (!isUuid(serviceKey)) throw new Problem("SERVICE_NOT_FOUND");
  const [found] = await run<Target>({
    text: `${describeTarget("service s")} where s.key = $1 for key share of s`,
    values: [serviceKey],
  });
  if (found === undefined) throw new Problem("SERVICE_NOT_FOUND");
  if (found.type === null)
    throw new Problem("SERVICE_NOT_FOUND", "The service has no live version that is a backend.");
  return found;
}

/** Whoever takes the backend back waits for the alias, and takes it as well. */
async function findAliased(run: RunStatement, id: string): Promise<Target> {
  const [found] = await run<Target>({
    text: `${describeTarget("platform_backend p join service s on s.key = p.service_key")} where p.id = $1 for key share of p`,
    values: [id],
  });
  if (found === undefined)
    throw new Problem("BACKEND_NOT_FOUND", `${id} is shared with no other organisation: share it first.`);
  if (found.type !== "SIMULATOR")
    throw new Problem("INVALID_INPUT", `${id} is no simulator; only simulators stand in for others.`);
  return found;
}

async function remove(run: RunStatement, { id, by }: ByOperator): Promise<boolean> {
  const [found] = await run<{
    readonly organisationId: string;
    readonly service: string | null;
    readonly aliasOf: string | null;
  }>({
    text: `select s.organisation_id as "organisationId", p.service_key as service, p.alias_of as "aliasOf"
      from platform_backend p left join platform_backend t on t.id = p.alias_of
        join service s on s.key = coalesce(p.service_key, t.service_key)
      where p.id = $1 for update of p`,
    values: [id],
  });
  if (found === undefined) return false;
  const { organisationId, service, aliasOf } = found;
  noteAudit({
    ...(await findLogs(run, by, organisationId)),
    changes: [
      service === null
        ? { field: "aliasOf", before: aliasOf, after: null }
        : { field: "serviceKey", before: service, after: null },
    ],
  });
  await run({
    text: "delete from platform_backend where id = $1 returning id",
    values: [id],
    audited: ["backend.unshare"],
  });
  return true;
}

/** The entry stands in the log of the operator's own organisation, and in that of the one whose service it is. */
async function findLogs(run: RunStatement, by: string, organisationId: string): Promise<AuditNote> {
  const [home] = await run<{ readonly id: string }>({
    text: "select id from organisation where personal_of = $1",
    values: [by],
  });
  if (home === undefined) return { organisationId };
  return { organisationId: home.id, ...(home.id === organisationId ? {} : { alsoIn: organisationId }) };
}

function toRecord({ number, ...row }: Row): PlatformBackendRecord {
  return { ...row, version: number === null ? null : formatVersion(number) };
}
