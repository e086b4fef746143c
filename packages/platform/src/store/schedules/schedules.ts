import type { Schedule } from "@platform/contract/platform-api/schedules";
import { createUuidV7, isUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { noteAudit } from "../audit/trail.ts";
import { requireRoom } from "../base/bounds.ts";
import { SCHEDULES_CHANNEL } from "../base/channels.ts";
import { isUniqueViolation, selectMilliseconds } from "../base/columns.ts";
import { requireOrganisation } from "../base/hold-organisation.ts";
import { cutPage, decodeCursor } from "../base/page.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { LAST_RUN } from "./run-columns.ts";
import type { RunRecord } from "./run-columns.ts";

/** When a schedule is due. */
export interface Times {
  readonly cron: string;
  readonly timeZone: string;
}

/** What a schedule starts: a job of a service, or an execution of a subscription. */
export interface StoredTarget {
  readonly serviceKey: string | null;
  /** MAJOR or MAJOR.MINOR.PATCH; null: the highest live version, or the one that the subscription names. */
  readonly version: string | null;
  readonly subscriptionId: string | null;
}

/** What is given of a schedule. */
export interface GivenSchedule extends Times, StoredTarget {
  readonly name: string;
  readonly overlap: Schedule["overlap"];
  /** JSON text of a start body. */
  readonly body: string;
}

/** A schedule; times in milliseconds since the epoch. */
export interface ScheduleRecord extends GivenSchedule {
  readonly id: string;
  /** Null: it is paused. */
  readonly nextAt: number | null;
  /** Why the platform has paused it; null: it has not. */
  readonly pause: { readonly code: string; readonly detail: string; readonly at: number } | null;
  readonly lastRun: RunRecord | null;
  readonly createdAt: number;
}

/** Names a schedule and who asks: one of another organisation is as if there were none. */
export interface ScheduleKey {
  readonly organisationId: string;
  readonly id: string;
}

/** Who makes or changes it, and whether it is to be due. */
interface Author {
  /** Id of the user. */
  readonly by: string;
  readonly enabled: boolean | undefined;
  readonly findNext: FindNext;
}

/** The first occurrence after a time; null: there is none. Milliseconds since the epoch. */
type FindNext = (times: Times, after: number) => number | null;

/** Schedules of organisations. Null: there is no such schedule. */
export interface ScheduleStore {
  /** Newest first. */
  readonly list: (organisationId: string, page: PageRequest) => Promise<Page<ScheduleRecord>>;
  readonly find: (key: ScheduleKey) => Promise<ScheduleRecord | null>;
  /** @throws Problem QUOTA_EXCEEDED, FORBIDDEN: the organisation was deleted meanwhile */
  readonly create: (
    organisationId: string,
    given: GivenSchedule,
    author: Author,
  ) => Promise<ScheduleRecord | "name taken">;
  /** What is left out stays. When times are given or it is resumed, it is due as it is from now on. */
  readonly change: (
    key: ScheduleKey,
    change: Partial<GivenSchedule>,
    author: Author,
  ) => Promise<ScheduleRecord | "name taken" | null>;
  /** With its runs. False: there was none. */
  readonly delete: (key: ScheduleKey) => Promise<boolean>;
  /** Calls back when something may be due earlier than it was; returns a function that stops it. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** SQL: a schedule, without its last run. */
const COLUMNS = `s.id, s.name, s.cron, s.time_zone as "timeZone", s.overlap, s.body, s.service_key as "serviceKey", s.version,
  s.subscription_id as "subscriptionId", ${selectMilliseconds("s.next_at")} as "nextAt", ${selectMilliseconds("s.created_at")} as "createdAt",
  case when s.paused_at is not null then json_build_object('code', s.pause_code, 'detail', s.pause_detail,
    'at', ${selectMilliseconds("s.paused_at")}) end as pause`;

const SELECT = `select ${COLUMNS}, ${LAST_RUN} as "lastRun" from schedule s`;

/** The store of schedules in PostgreSQL. */
export function createScheduleStore(database: Database): ScheduleStore {
  return {
    list: (organisationId, page) => listSchedules(database, organisationId, page),
    find: (key) => findSchedule(database.query, key),
    create: (organisationId, given, author) =>
      refuseTaken(database.transaction((run) => insertSchedule(run, { organisationId, given, author }))),
    change: (key, change, author) =>
      refuseTaken(database.transaction((run) => changeSchedule(run, { key, change, author }))),
    delete: (key) => deleteSchedule(database, key),
    subscribe: (listener) =>
      database.listen(SCHEDULES_CHANNEL, { onNotify: () => listener(), onReset: listener }),
  };
}

async function refuseTaken<T>(changing: Promise<T>): Promise<T | "name taken"> {
  try {
    return await changing;
  } catch (error) {
    if (isUniqueViolation(error, "schedule_name_unique")) return "name taken";
    throw error;
  }
}

async function listSchedules(
  database: Database,
  organisationId: string,
  page: PageRequest,
): Promise<Page<ScheduleRecord>> {
  const [before] = decodeCursor(page.cursor, [isUuid]) ?? [null];
  const rows = await database.query<ScheduleRecord>({
    text: `${SELECT} where s.organisation_id = $1 and ($2::uuid is null or s.id < $2) order by s.id desc limit $3`,
    values: [organisationId, before, page.limit + 1],
    idempotent: true,
  });
  return cutPage(rows, page.limit, ({ id }) => [id]);
}

async function findSchedule(
  run: RunStatement,
  { organisationId, id }: ScheduleKey,
): Promise<ScheduleRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await run<ScheduleRecord>({
    text: `${SELECT} where s.id = $2 and s.organisation_id = $1`,
    values: [organisationId, id],
    idempotent: true,
  });
  return row ?? null;
}

interface NewSchedule {
  readonly organisationId: string;
  readonly given: GivenSchedule;
  readonly author: Author;
}

async function insertSchedule(
  run: RunStatement,
  { organisationId, given, author: { by, enabled = true, findNext } }: NewSchedule,
): Promise<ScheduleRecord> {
  await requireOrganisation(run, organisationId);
  await requireRoom(run, "schedules", {
    text: "from schedule where organisation_id = $1",
    values: [organisationId],
  });
  const id = createUuidV7();
  const nextAt = enabled ? findNext(given, await readClock(run)) : null;
  noteAudit({
    target: [id],
    changes: [
      { field: "name", before: null, after: given.name },
      { field: "times", before: null, after: describeTimes(given) },
    ],
  });
  await run({
    text: `insert into schedule (id, organisation_id, name, cron, time_zone, overlap, body, service_key, version, subscription_id,
        changed_by, next_at, planned_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, to_timestamp($12::float8 / 1000), now()) returning id`,
    values: [id, organisationId, ...toValues(given), by, nextAt],
    audited: ["schedule.create"],
  });
  await announce(run);
  const created = await findSchedule(run, { organisationId, id });
  if (created === null) throw new Error("The insert made no row.");
  return created;
}

interface Change {
  readonly key: ScheduleKey;
  readonly change: Partial<GivenSchedule>;
  readonly author: Author;
}

async function changeSchedule(
  run: RunStatement,
  { key, change, author: { by, enabled, findNext } }: Change,
): Promise<ScheduleRecord | null> {
  if (!isUuid(key.id)) return null;
  await run({
    text: "select id from schedule where id = $2 and organisation_id = $1 for no key update",
    values: [key.organisationId, key.id],
  });
  // A statement of its own: it must see what was committed while the first one waited for its lock.
  const former = await findSchedule(run, key);
  if (former === null) return null;
  const next = { ...former, ...change };
  const isEnabled = enabled ?? former.nextAt !== null;
  const isTimed = change.cron !== undefined || change.timeZone !== undefined;
  const isKept = isEnabled && !isTimed && former.nextAt !== null;
  const nextAt = isEnabled && !isKept ? findNext(next, await readClock(run)) : null;
  noteAudit({ changes: listChanges(former, { ...next, isEnabled }) });
  await run({
    text: `update schedule s set name = $3, cron = $4, time_zone = $5, overlap = $6, body = $7, service_key = $8, version = $9,
        subscription_id = $10, changed_by = $11,
        next_at = case when $13::boolean then s.next_at else to_timestamp($12::float8 / 1000) end,
        planned_at = case when $13::boolean then s.planned_at else now() end,
        refusals = case when $14::boolean then 0 else s.refusals end, pause_code = case when $14::boolean then null else s.pause_code end,
        pause_detail = case when $14::boolean then null else s.pause_detail end,
        paused_at = case when $14::boolean then null else s.paused_at end
      where s.id = $2 and s.organisation_id = $1 returning s.id`,
    values: [
      key.organisationId,
      key.id,
      ...toValues(next),
      by,
      nextAt,
      isKept,
      enabled !== undefined || change.serviceKey !== undefined || change.body !== undefined,
    ],
    audited: ["schedule.update"],
  });
  await announce(run);
  return await findSchedule(run, key);
}

async function deleteSchedule(database: Database, { organisationId, id }: ScheduleKey): Promise<boolean> {
  if (!isUuid(id)) return false;
  const rows = await database.query({
    text: "delete from schedule where id = $2 and organisation_id = $1 returning id",
    values: [organisationId, id],
    idempotent: true,
    audited: ["schedule.delete"],
  });
  return rows.length > 0;
}

/** The times of all occurrences are those of the database's clock. Milliseconds since the epoch. */
async function readClock(run: RunStatement): Promise<number> {
  const [row] = await run<{ now: number }>({ text: `select ${selectMilliseconds("now()")} as now` });
  if (row === undefined) throw new Error("The clock was not read.");
  return row.now;
}

async function announce(run: RunStatement): Promise<void> {
  await run({ text: "select pg_notify($1, '')", values: [SCHEDULES_CHANNEL] });
}

/** In the order of the columns. */
function toValues(given: GivenSchedule): readonly unknown[] {
  const { name, cron, timeZone, overlap, body, serviceKey, version, subscriptionId } = given;
  return [name, cron, timeZone, overlap, body, serviceKey, version, subscriptionId];
}

function describeTimes({ cron, timeZone }: Times): string {
  return `${cron} ${timeZone}`;
}

function listChanges(former: ScheduleRecord, next: GivenSchedule & { readonly isEnabled: boolean }) {
  const pairs = [
    { field: "name", before: former.name, after: next.name },
    { field: "times", before: describeTimes(former), after: describeTimes(next) },
    { field: "enabled", before: String(former.nextAt !== null), after: String(next.isEnabled) },
  ];
  return pairs.filter(({ before, after }) => before !== after);
}
