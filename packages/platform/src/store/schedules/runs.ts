import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { RUN_COLUMNS } from "./run-columns.ts";
import type { RunRecord } from "./run-columns.ts";
import type { ScheduleKey, StoredTarget } from "./schedules.ts";
import { trimRuns } from "./due.ts";

/** A run that this process starts. */
export interface RunClaim extends StoredTarget {
  readonly id: string;
  readonly attempt: number;
  readonly trigger: RunRecord["trigger"];
  /** What the execution is to be called. */
  readonly executionId: string;
  readonly organisationId: string;
  /** JSON text of the start body. */
  readonly body: string;
  /** Who has asked for it; of one that was due, who has changed the schedule last. */
  readonly userId: string;
  /** Whether the token or session that has asked for it may change what the organisation has; true of one that was due. */
  readonly mayEdit: boolean;
  /** For how long it has been due, by the database's clock. Milliseconds. */
  readonly lateMs: number;
}

/** Who asks for a run, as a claim has it. */
type Asker = Pick<RunClaim, "userId" | "mayEdit">;

/** Why a run has started nothing. */
export interface RunRefusal {
  readonly status: "REFUSED" | "MISSED";
  readonly code: string | null;
  readonly detail: string;
  /** Whether it would be refused again: after several in a row the schedule is paused. */
  readonly isPermanent: boolean;
}

/** Occurrences that are being started, and those that were. Null: there is no such schedule. */
export interface ScheduleRunStore {
  /** Newest first. */
  readonly list: (key: ScheduleKey, page: PageRequest) => Promise<Page<RunRecord> | null>;
  readonly find: (id: string) => Promise<RunRecord | null>;
  /** A run that nothing but a request makes due, claimed. */
  readonly addManual: (key: ScheduleKey, asker: Asker, leaseSeconds: number) => Promise<RunClaim | null>;
  /** Takes runs that nobody starts, the ones that have waited longest first. */
  readonly claim: (limit: number, leaseSeconds: number) => Promise<readonly RunClaim[]>;
  /** It has made an execution, whoever did it, and whatever was thought of it before. */
  readonly settleStarted: (claim: RunClaim) => Promise<void>;
  /** Unless somebody else has claimed it meanwhile. */
  readonly settleRefused: (claim: RunClaim, refusal: RunRefusal) => Promise<void>;
}

/** So many refusals in a row that would be repeated pause a schedule. */
const MOST_REFUSALS = 5;

/** The store of runs in PostgreSQL. */
export function createScheduleRunStore(database: Database): ScheduleRunStore {
  return {
    list: (key, page) => listRuns(database, key, page),
    find: async (id) => {
      const [row] = await database.query<RunRecord>({
        text: `select ${RUN_COLUMNS} from schedule_run r where r.id = $1`,
        values: [id],
        idempotent: true,
      });
      return row ?? null;
    },
    addManual: (key, asker, leaseSeconds) =>
      database.transaction((run) => insertManual(run, { key, asker, leaseSeconds })),
    claim: (limit, leaseSeconds) => claimRuns(database, limit, leaseSeconds),
    settleStarted: (claim) => settleStarted(database, claim),
    settleRefused: (claim, refusal) => settleRefused(database, claim, refusal),
  };
}

async function listRuns(
  database: Database,
  { organisationId, id }: ScheduleKey,
  page: PageRequest,
): Promise<Page<RunRecord> | null> {
  const [before] = decodeCursor(page.cursor, [isUuid]) ?? [null];
  if (!isUuid(id)) return null;
  const rows = await database.query<RunRecord | { readonly id: null }>({
    // One row of nulls: a schedule without runs.
    text: `select found.* from schedule s left join lateral (
        select ${RUN_COLUMNS} from schedule_run r where r.schedule_id = s.id and ($3::uuid is null or r.id < $3)
        order by r.id desc limit $4
      ) found on true where s.id = $2 and s.organisation_id = $1 order by found.id desc`,
    values: [organisationId, id, before, page.limit + 1],
    idempotent: true,
  });
  if (rows.length === 0) return null;
  const runs = rows.filter((row): row is RunRecord => row.id !== null);
  return cutPage(runs, page.limit, (run) => [run.id]);
}

/** SQL: what is needed to start the run `r` of the schedule `s`. */
const CLAIM = `r.id, r.attempt, r.trigger, r.execution_id as "executionId", s.organisation_id as "organisationId", s.body,
  s.service_key as "serviceKey", s.version, s.subscription_id as "subscriptionId",
  coalesce(r.asked_by, s.changed_by) as "userId", r.trigger = 'CRON' or coalesce(r.may_edit, false) as "mayEdit",
  greatest(0, (extract(epoch from now() - r.due_at) * 1000)::float8) as "lateMs"`;

interface NewManual {
  readonly key: ScheduleKey;
  readonly asker: Asker;
  readonly leaseSeconds: number;
}

async function insertManual(
  run: RunStatement,
  { key: { organisationId, id }, asker, leaseSeconds }: NewManual,
): Promise<RunClaim | null> {
  if (!isUuid(id)) return null;
  const { userId, mayEdit } = asker;
  const rows = await run<{ id: string }>({
    text: `insert into schedule_run (id, schedule_id, trigger, due_at, status, execution_id, attempt, lease_until, asked_by, may_edit)
      select $3, s.id, 'MANUAL', now(), 'STARTING', $4, 1, now() + make_interval(secs => $5), $6, $7
      from schedule s where s.id = $2 and s.organisation_id = $1 for no key update of s returning schedule_run.id`,
    values: [organisationId, id, createUuidV7(), createUuidV7(), leaseSeconds, userId, mayEdit],
    audited: ["schedule.run"],
  });
  const [made] = rows;
  if (made === undefined) return null;
  await trimRuns(run, [id]);
  const [claim] = await run<RunClaim>({
    text: `select ${CLAIM} from schedule_run r join schedule s on s.id = r.schedule_id where r.id = $1`,
    values: [made.id],
  });
  return claim ?? null;
}

async function claimRuns(
  database: Database,
  limit: number,
  leaseSeconds: number,
): Promise<readonly RunClaim[]> {
  return await database.query<RunClaim>({
    name: "schedule-run-claim",
    text: `with free as (
        select id from schedule_run where status = 'STARTING' and lease_until <= now()
        order by lease_until, id limit $1 for no key update skip locked
      ), r as (
        update schedule_run set attempt = attempt + 1, lease_until = now() + make_interval(secs => $2)
        where id in (select id from free) returning *
      ) select ${CLAIM} from r join schedule s on s.id = r.schedule_id order by r.due_at, r.id`,
    values: [limit, leaseSeconds],
  });
}

/**
 * SQL: the schedule of the run $1, before the run: in the order in which a schedule is deleted with its runs. What is read of it is what it is
 * when the lock is had.
 */
const HELD = `held as materialized (
    select s.id, s.refusals, s.next_at from schedule s where s.id = (select schedule_id from schedule_run where id = $1) for no key update
  )`;
const IS_HELD = "(select count(*) from held) > 0";

async function settleStarted(database: Database, { id, executionId }: RunClaim): Promise<void> {
  await database.query({
    name: "schedule-run-started",
    text: `with ${HELD}, started as (
        update schedule_run set status = 'STARTED', code = null, detail = null, lease_until = null
        where id = $1 and status <> 'STARTED' and ${IS_HELD} returning schedule_id
      ) update schedule set refusals = 0, execution_id = greatest(execution_id, $2::uuid)
        where id in (select schedule_id from started)`,
    values: [id, executionId],
    idempotent: true,
  });
}

async function settleRefused(
  database: Database,
  { id, attempt, trigger }: RunClaim,
  { status, code, detail, isPermanent }: RunRefusal,
): Promise<void> {
  await database.query({
    name: "schedule-run-refused",
    text: `with ${HELD}, refused as (
        update schedule_run set status = $3, code = $4, detail = $5, lease_until = null
        where id = $1 and attempt = $2 and status = 'STARTING' and ${IS_HELD} returning schedule_id
      ), counted as (
        select s.id, s.refusals + 1 >= ${MOST_REFUSALS} as is_last from held s
        where s.id in (select schedule_id from refused) and $6::boolean and s.next_at is not null
      ) update schedule s set refusals = s.refusals + 1, next_at = case when is_last then null else next_at end,
          pause_code = case when is_last then $4 end, pause_detail = case when is_last then $5 end,
          paused_at = case when is_last then now() end
        from counted where s.id = counted.id`,
    values: [id, attempt, status, code, detail, isPermanent && trigger === "CRON"],
  });
}

/** How long until something is due or can be claimed; null: nothing will be. Milliseconds, 0 or more, by the database's clock. */
export async function readWait(database: Pick<Database, "query">): Promise<number | null> {
  const [row] = await database.query<{ wait: number | null }>({
    name: "schedule-wait",
    // "greatest" ignores a null, and would make it 0.
    text: `select greatest(0, ${selectMilliseconds("at")} - ${selectMilliseconds("now()")}) as wait from (
        select least((select min(next_at) from schedule where next_at is not null),
          (select min(lease_until) from schedule_run where status = 'STARTING')) as at
      ) soonest where at is not null`,
    idempotent: true,
  });
  return row?.wait ?? null;
}
