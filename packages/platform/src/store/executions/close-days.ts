import { DAY } from "@platform/engine/base/time";
import { getCode } from "@platform/engine/base/thrown";
import type { Logger } from "@platform/engine/base/logger";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { UNDEFINED_TABLE, readDay, underLock } from "./days.ts";
import type { Day } from "./days.ts";
import { selectLogDays } from "./kept.ts";
import { isHeld, isQueued } from "./queue-rows.ts";

/*
 * A day is closed twice: its logs when what the platform keeps of logs by default is over, its executions when the same is true of results.
 * Either way,
 *
 *   nothing of the day waits or runs -> what is kept for longer is copied, in groups -> the partitions are dropped
 *
 * and `closed_day` says how far it is: who is killed in between, or does it at the same time as another, changes nothing. Until the
 * partitions are gone, readers find executions there.
 */

/** What closing works with. */
interface CloseOptions {
  readonly logger: Logger;
  /** For how many days after their end executions are kept unless their service says otherwise. */
  readonly retentionDays: number;
  /** The same for their logs; default: as long as the executions. */
  readonly logRetentionDays?: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What of a day is closed. */
type Kind = "logs" | "executions";

/** Rows whose day is looked through by one statement. */
const AT_ONCE = 1_000;

/** Closes the days that are due; returns those whose executions are gone now. */
export async function closeDays(database: Database, options: CloseOptions): Promise<readonly string[]> {
  const { now, retentionDays, logger } = options;
  const logDays = Math.min(options.logRetentionDays ?? retentionDays, retentionDays);
  const shared = { resultDays: retentionDays, now };
  const closed: string[] = [];
  for (const { name, hasLogs } of await listClosable(database)) {
    const day = readDay(name);
    const age = now - day.end;
    try {
      if (
        hasLogs &&
        age >= logDays * DAY &&
        !(await closeDay(database, { ...shared, day, kind: "logs", days: logDays }))
      )
        continue;
      if (
        age >= retentionDays * DAY &&
        (await closeDay(database, { ...shared, day, kind: "executions", days: retentionDays }))
      )
        closed.push(name);
    } catch (error) {
      if (getCode(error) === UNDEFINED_TABLE) continue;
      logger.warn({ err: error, day: name }, "a day past retention could not be closed; trying again later");
    }
  }
  return closed;
}

/** A day that there are partitions of. */
interface Closable {
  /** `YYYYMMDD`. */
  readonly name: string;
  readonly hasLogs: boolean;
}

/** The days that there are, the oldest first, and whether their logs are there too. */
export async function listClosable(database: Pick<Database, "query">): Promise<readonly Closable[]> {
  return await database.query({
    text: `select right(c.relname, 8) as name, to_regclass('execution_log_p' || right(c.relname, 8)) is not null as "hasLogs"
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'execution'::regclass and c.relname ~ '^execution_p[0-9]{8}$' order by 1`,
    idempotent: true,
  });
}

interface Closing {
  readonly day: Day;
  readonly kind: Kind;
  /** For how many days executions are kept by default. */
  readonly resultDays: number;
  /** The same of what is closed. */
  readonly days: number;
  readonly now: number;
}

/** False: something of this day has not ended, or another process closes days at the moment. */
async function closeDay(database: Database, closing: Closing): Promise<boolean> {
  const { day, kind } = closing;
  if (await hasUnended(database.query, day)) return false;
  const [noted] = await database.query<{ days: number; isCopied: boolean }>({
    // What was noted first holds: what has been removed by then was removed by it.
    text: `with noted as (
        insert into closed_day (kind, from_id, to_id, days) values ($1, $2, $3, $4)
        on conflict (kind, from_id) do update set days = closed_day.days returning *
      ) select days, copied_at is not null as "isCopied" from noted`,
    values: [kind, day.from, day.to, closing.days],
    idempotent: true,
  });
  if (noted === undefined) throw new Error("The insert returned no row.");
  if (!noted.isCopied) await copyKept(database, { ...closing, days: noted.days });
  return (await underLock(database, (run) => dropDay(run, closing))) === true;
}

/** Whether something of the day waits, is held, or runs: three lookups in indexes. */
export async function hasUnended(run: RunStatement, { name }: Day): Promise<boolean> {
  const [row] = await run<{ found: boolean }>({
    text: `select exists (select 1 from execution_p${name} e where ${isQueued("e")})
      or exists (select 1 from execution_p${name} e where ${isHeld("e")})
      or exists (select 1 from execution_p${name} where lease_until is not null) as found`,
    idempotent: true,
  });
  return row?.found === true;
}

/** Copies what does not expire with its day, a group after the other by id. Repeating it changes nothing. */
async function copyKept(database: Database, { day, kind, resultDays, days, now }: Closing): Promise<void> {
  const text = kind === "logs" ? copyLogs(day) : copyExecutions(day);
  for (let after = LOWEST_ID; ;) {
    const values = [after, now, resultDays, days];
    const [last] = await database.query<{ id: string | null }>({ text, values, idempotent: true });
    if (last === undefined || last.id === null) break;
    after = last.id;
  }
  await database.query({
    text: "update closed_day set copied_at = now() where kind = $1 and from_id = $2",
    values: [kind, day.from],
    idempotent: true,
  });
}

const LOWEST_ID = "00000000-0000-0000-0000-000000000000";

/*
 * SQL. $1: the id after which the group begins, $2: now, in milliseconds, $3 and $4: for how many days results, and results or logs, are kept by
 * default. An execution goes with all that it has, or not at all.
 */
const GROUP = ({ name }: Day) => `grouped as materialized (
    select e.*, e.ended_at + make_interval(days => coalesce(e.result_days, $3::int)) as result_expiry,
      e.ended_at + make_interval(days => coalesce(e.log_days, $4::int)) as log_expiry
    from execution_p${name} e where e.id > $1 order by e.id limit ${AT_ONCE}
  )`;
const NOW = "to_timestamp($2::float8 / 1000)";
const LAST = "select (select id from grouped order by id desc limit 1) as id";

const copyLogs = (day: Day) => `with ${GROUP(day)}, copied as (
    insert into kept_log (id, seq, lines, expires_at)
    select l.id, l.seq, l.lines, least(g.result_expiry, g.log_expiry)
    from grouped g join execution_log_p${day.name} l on l.id = g.id
    where least(g.result_expiry, g.log_expiry) > ${NOW} on conflict do nothing
  ) ${LAST}`;

const copyExecutions = (day: Day) => `with ${GROUP(day)}, copied as (
    insert into kept_execution (${KEPT_COLUMNS.join(", ")}, result_days, log_days, expires_at)
    select ${KEPT_COLUMNS.map((name) => `g.${name}`).join(", ")}, coalesce(g.result_days, $3::int),
      coalesce(${selectLogDays("g")}, $4::int), g.result_expiry
    from grouped g where g.result_expiry > ${NOW} on conflict do nothing
  ), results as (
    insert into kept_result (id, result, metadata, has_output)
    select r.id, r.result, r.metadata, r.has_output from grouped g join execution_result_p${day.name} r on r.id = g.id
    where g.result_expiry > ${NOW} on conflict do nothing
  ), void as (
    delete from execution_progress p using grouped g where p.execution_id = g.id and p.attempt <> g.attempt
      and (g.retried = 0 or p.checkpoint is null)
  ), outdated as (
    -- Of an attempt before the last only the checkpoint counts.
    update execution_progress p set fraction = null, message = null from grouped g
    where p.execution_id = g.id and p.attempt <> g.attempt and g.retried > 0 and p.checkpoint is not null
  ) ${LAST}`;

/** What is known of an execution that has ended. */
const KEPT_COLUMNS = [
  "id",
  "owner_id",
  "version_id",
  "status",
  "cpu_milli",
  "memory_milli",
  "created_at",
  "started_at",
  "ended_at",
  "sandbox_level",
  "failure_code",
  "failure_detail",
  "failure_metadata",
  "retried",
] as const;

/** What is in no table of days. */
const BESIDE = ["execution_output", "execution_progress", "execution_attempt"] as const;
const TABLES = ["execution", "execution_input", "execution_result"] as const;

/** What was copied is all there is: nothing of the day has changed since it had ended. */
async function dropDay(run: RunStatement, { day, kind }: Closing): Promise<boolean> {
  if (await hasUnended(run, day)) return false;
  if (kind === "executions")
    for (const table of BESIDE)
      await run({
        text: `delete from ${table} o where o.execution_id >= $1 and o.execution_id < $2
          and not exists (select 1 from kept_execution k where k.id = o.execution_id)`,
        values: [day.from, day.to],
      });
  const tables = kind === "logs" ? ["execution_log"] : TABLES;
  for (const table of tables) await run({ text: `drop table if exists ${table}_p${day.name}` });
  await run({
    text: "update closed_day set removed_at = now() where kind = $1 and from_id = $2",
    values: [kind, day.from],
  });
  return true;
}
