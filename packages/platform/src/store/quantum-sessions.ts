import { isUuid } from "@platform/engine/base/uuid";
import { BACKEND_PRIORITY } from "@platform/engine/store/kinds";
import type { Database } from "../postgres/database.ts";
import { BACKEND_COLUMNS, toBackendRecord } from "./backends.ts";
import type { BackendRecord, BackendRow } from "./backends.ts";
import { selectMilliseconds } from "./base/columns.ts";
import { lookUp } from "./executions/lookup.ts";
import { IS_SHARED } from "./platform-backends.ts";
import { FACTS, MOST_JOBS } from "./quantum-jobs.ts";
import { advanceJob } from "./session-turns.ts";

/** What a session is opened with. */
interface NewSession {
  readonly id: string;
  readonly organisationId: string;
  readonly backendId: string;
  /** The backend that it is another name of; null: none. */
  readonly aliasOf: string | null;
  readonly provider: string;
  readonly serviceKey: string;
  readonly versionId: string;
  readonly mode: "batch" | "dedicated";
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly sdkProvider: string | null;
  /** Id of the user; null: an execution of a service opens it. */
  readonly createdBy: string | null;
  /** Id of that execution, with which it ends; null: a user opens it. */
  readonly serviceExecutionId: string | null;
  readonly seconds: number;
}

/** A session with the sums of its jobs; times in milliseconds since the epoch. */
export interface SessionRecord extends Pick<
  NewSession,
  "id" | "backendId" | "provider" | "mode" | "metadata" | "sdkProvider" | "serviceExecutionId"
> {
  /** MAJOR.MINOR.PATCH. */
  readonly version: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** When it was closed, its time was over, or its execution had ended; null: it is open. */
  readonly closedAt: number | null;
  readonly isOver: boolean;
  readonly acceptsJobs: boolean;
  readonly jobCount: number;
  readonly unended: number;
  readonly startedAt: number | null;
  readonly usageMs: number;
}

/** The version that a session runs, and whether it takes a job. */
interface PinnedBackend extends BackendRecord {
  readonly isOver: boolean;
  readonly acceptsJobs: boolean;
  /** As of a session. */
  readonly serviceExecutionId: string | null;
}

/** A job in no session, or a session. */
interface WorkloadKey {
  readonly type: "JOB" | "SESSION";
  readonly id: string;
}

/** What of a list is wanted; without a type, jobs and sessions. */
interface WorkloadsPage {
  readonly offset: number;
  readonly limit: number;
  readonly type?: WorkloadKey["type"] | undefined;
}

/** What decides about the state of a session. `jobCount` and `unended`: 1 where there is one. */
type SessionStanding = Pick<
  SessionRecord,
  "isOver" | "acceptsJobs" | "jobCount" | "unended" | "serviceExecutionId"
>;

type SessionKey = Pick<NewSession, "organisationId" | "id">;

/** Sessions of organisations. */
export interface QuantumSessionStore {
  readonly create: (session: NewSession) => Promise<void>;
  readonly find: (key: SessionKey) => Promise<SessionRecord | null>;
  readonly list: (organisationId: string, ids: readonly string[]) => Promise<readonly SessionRecord[]>;
  /** Without sums: it is asked for over and over. */
  readonly findStanding: (key: SessionKey) => Promise<SessionStanding | null>;
  readonly findBackend: (key: SessionKey) => Promise<PinnedBackend | null>;
  /** False: there is none that is open. */
  readonly setAccepting: (key: SessionKey, acceptsJobs: boolean) => Promise<boolean>;
  /** False: there is none. */
  readonly close: (key: SessionKey) => Promise<boolean>;
  /** Ids of its jobs that have not ended. */
  readonly listUnended: (key: SessionKey) => Promise<readonly string[]>;
  /** The same, for good: what was or is being started in it is to be ended. False: there is none. */
  readonly cancel: (key: SessionKey) => Promise<boolean>;
  /** A job of a session was started. See session-turns.ts. */
  readonly advance: (job: Parameters<typeof advanceJob>[1]) => Promise<boolean>;
  /** Newest first; `total`: MOST_JOBS at most of jobs. */
  readonly listWorkloads: (
    organisationId: string,
    page: WorkloadsPage,
  ) => Promise<{ readonly items: readonly WorkloadKey[]; readonly total: number }>;
}

/** Where an execution has opened it, that has ended. */
const IS_LEFT = `(s.service_execution_id is not null and not exists (
    select 1 from execution x where ${lookUp("x", "s.service_execution_id", "x.status in ('PENDING', 'RUNNING')")}
  ))`;
const IS_OVER = `(s.closed_at is not null or s.expires_at <= now() or ${IS_LEFT})`;
/** Of a session that is over. */
const CLOSED_AT = `coalesce(s.closed_at, least(s.expires_at,
    (select x.ended_at from execution x where ${lookUp("x", "s.service_execution_id")})))`;

const SELECT = `select s.id, s.backend_id as "backendId", s.provider, s.mode, s.metadata, s.sdk_provider as "sdkProvider",
    s.service_execution_id as "serviceExecutionId",
    concat_ws('.', v.major, v.minor, v.patch) as version, ${selectMilliseconds("s.created_at")} as "createdAt",
    ${selectMilliseconds("s.expires_at")} as "expiresAt",
    case when ${IS_OVER} then ${selectMilliseconds(CLOSED_AT)} end as "closedAt", ${IS_OVER} as "isOver", s.accepts_jobs as "acceptsJobs", jobs.*
  from quantum_session s join version v on v.id = s.version_id cross join lateral (
    select count(*)::int as "jobCount", (count(*) filter (where e.ended_at is null))::int as unended,
      min(${selectMilliseconds("e.started_at")}) as "startedAt",
      coalesce(sum(extract(epoch from e.ended_at - e.started_at) * 1000), 0)::float8 as "usageMs"
    from execution e where e.session_id = s.id and e.owner_id = s.organisation_id
  ) jobs where s.organisation_id = $1::uuid and s.id = any ($2::uuid[])`;

const OF_SESSION = "execution e where e.session_id = s.id and e.owner_id = s.organisation_id";

const STANDING = `select ${IS_OVER} as "isOver", s.accepts_jobs as "acceptsJobs", s.service_execution_id as "serviceExecutionId",
    exists (select 1 from ${OF_SESSION})::int as "jobCount", exists (select 1 from ${OF_SESSION} and e.ended_at is null)::int as unended
  from quantum_session s where s.organisation_id = $1::uuid and s.id = $2::uuid`;

const WORKLOADS = `with found as materialized (
    select type, id, row_number() over (order by at desc, id desc) as place from (
      select 'SESSION' as type, s.id, s.created_at as at from quantum_session s where s.organisation_id = $1::uuid
      union all
      select 'JOB', e.id, e.created_at from (
        select e.* from execution e where e.owner_id = $1::uuid and e.priority = ${BACKEND_PRIORITY} order by e.id desc limit ${MOST_JOBS}
      ) e join execution_input i on ${lookUp("i", "e.id")}
      where ${FACTS} is not null and not ${FACTS} ?| array['isDryRun', 'sessionId']
    ) each where $4::text is null or type = $4
  )
  select (select count(*)::int from found) as total, page.* from (select 1) one
    left join lateral (select * from found where place > $2::int and place <= $2::int + $3::int) page on true order by page.place`;

/** The store of sessions in PostgreSQL. */
export function createQuantumSessionStore(database: Database): QuantumSessionStore {
  const list: QuantumSessionStore["list"] = (organisationId, ids) =>
    database.query<SessionRecord>({ text: SELECT, values: [organisationId, ids], idempotent: true });
  return {
    list,
    create: async (session) => {
      await createSession(database, session);
    },
    find: async ({ organisationId, id }) =>
      isUuid(id) ? ((await list(organisationId, [id]))[0] ?? null) : null,
    findStanding: ({ organisationId, id }) => findStanding(database, { organisationId, id }),
    findBackend: ({ organisationId, id }) => findPinned(database, { organisationId, id }),
    setAccepting: async (key, acceptsJobs) =>
      await change(database, key, {
        set: "accepts_jobs = $3",
        condition: `not ${IS_OVER}`,
        values: [acceptsJobs],
        audited: ["quantum-session.update"],
      }),
    close: async (key) =>
      await change(database, key, {
        set: `closed_at = least(now(), ${CLOSED_AT})`,
        condition: "true",
        values: [],
        audited: ["quantum-session.close"],
      }),
    cancel: async (key) =>
      await change(database, key, {
        set: `closed_at = least(now(), ${CLOSED_AT}), cancelled_at = coalesce(s.cancelled_at, now())`,
        condition: "true",
        values: [],
        audited: ["quantum-session.cancel"],
      }),
    listUnended: (key) => listUnended(database, key),
    advance: (job) => advanceJob(database, job),
    listWorkloads: (organisationId, page) => listWorkloads(database, organisationId, page),
  };
}

async function findStanding(
  database: Database,
  { organisationId, id }: SessionKey,
): Promise<SessionStanding | null> {
  if (!isUuid(id)) return null;
  const [row] = await database.query<SessionStanding>({
    name: "quantum-session-standing",
    text: STANDING,
    values: [organisationId, id],
    idempotent: true,
  });
  return row ?? null;
}

async function listUnended(
  database: Database,
  { organisationId, id }: SessionKey,
): Promise<readonly string[]> {
  const rows = await database.query<{ readonly id: string }>({
    text: `select e.id from execution e where e.session_id = $2::uuid and e.owner_id = $1::uuid and e.ended_at is null
      order by e.id limit ${MOST_JOBS}`,
    values: [organisationId, id],
    idempotent: true,
  });
  return rows.map((row) => row.id);
}

async function createSession(database: Database, session: NewSession): Promise<void> {
  await database.query({
    text: `insert into quantum_session (id, organisation_id, backend_id, provider, service_key, version_id, mode, metadata, sdk_provider, created_by, service_execution_id, alias_of, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, $11, $12, now() + make_interval(secs => $13)) returning id`,
    values: [
      session.id,
      session.organisationId,
      session.backendId,
      session.provider,
      session.serviceKey,
      session.versionId,
      session.mode,
      JSON.stringify(session.metadata),
      session.sdkProvider,
      session.createdBy,
      session.serviceExecutionId,
      session.aliasOf,
      session.seconds,
    ],
    audited: ["quantum-session.create"],
  });
}

async function findPinned(
  database: Database,
  { organisationId, id }: SessionKey,
): Promise<PinnedBackend | null> {
  if (!isUuid(id)) return null;
  type Row = BackendRow & Pick<PinnedBackend, "isOver" | "acceptsJobs" | "serviceExecutionId">;
  const [row] = await database.query<Row>({
    name: "quantum-session-backend",
    text: `select x.id, x."aliasOf", x."isOver", x."acceptsJobs", x."serviceExecutionId", ${BACKEND_COLUMNS} from (
        select s.backend_id as id, s.alias_of as "aliasOf", s.service_key, s.version_id, ${IS_OVER} as "isOver", s.accepts_jobs as "acceptsJobs",
          s.service_execution_id as "serviceExecutionId"
        from quantum_session s where s.organisation_id = $1::uuid and s.id = $2::uuid
      ) x join service s on s.key = x.service_key join version v on v.id = x.version_id
      where s.organisation_id = $1::uuid or ${IS_SHARED}`,
    values: [organisationId, id],
    idempotent: true,
  });
  if (row === undefined) return null;
  const { isOver, acceptsJobs, serviceExecutionId, ...backend } = row;
  return { ...toBackendRecord(backend), isOver, acceptsJobs, serviceExecutionId };
}

async function change(
  database: Database,
  { organisationId, id }: SessionKey,
  {
    set,
    condition,
    values,
    audited,
  }: {
    readonly set: string;
    readonly condition: string;
    readonly values: readonly unknown[];
    readonly audited: readonly string[];
  },
): Promise<boolean> {
  if (!isUuid(id)) return false;
  const rows = await database.query({
    text: `update quantum_session s set ${set} where s.organisation_id = $1::uuid and s.id = $2::uuid and ${condition} returning s.id`,
    values: [organisationId, id, ...values],
    idempotent: true,
    audited,
  });
  return rows.length > 0;
}

async function listWorkloads(
  database: Database,
  organisationId: string,
  { offset, limit, type }: WorkloadsPage,
): Promise<{ readonly items: readonly WorkloadKey[]; readonly total: number }> {
  type Row = { readonly total: number } & (WorkloadKey | { readonly id: null });
  const rows = await database.query<Row>({
    text: WORKLOADS,
    values: [organisationId, offset, limit, type ?? null],
    idempotent: true,
  });
  const items = rows.flatMap((row) => (row.id === null ? [] : [{ type: row.type, id: row.id }]));
  return { items, total: rows[0]?.total ?? 0 };
}
