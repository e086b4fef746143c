import { DAY } from "@platform/engine/base/time";
import type { Database } from "../../postgres/database.ts";
import { hasUnended, listClosable } from "./close-days.ts";
import { readDay } from "./days.ts";
import type { Day } from "./days.ts";
import { fromEarly, selectEarly } from "./remove-early.ts";

/** What of one service the next round removes. */
interface ServiceRemoval {
  /** Null: no version of this execution is known. */
  readonly serviceKey: string | null;
  readonly service: string | null;
  /** Executions that are removed, or whose result is. */
  readonly executions: number;
  /** Executions whose log is removed, also where their result stays. */
  readonly logs: number;
  /** Of results and logs, without the objects of large results. */
  readonly bytes: number;
}

/** What the next round of housekeeping removes of executions. */
export interface RemovalPreview {
  /** Days whose executions are removed, `YYYYMMDD`, and those whose logs are. */
  readonly days: readonly string[];
  readonly logDays: readonly string[];
  /** Days that are due, of which something waits or runs: they stay for now. */
  readonly waiting: readonly string[];
  readonly services: readonly ServiceRemoval[];
  /** By the hash of an object: how many results that are removed name it. */
  readonly named: ReadonlyMap<string, number>;
}

/** What counts, and when. */
interface PreviewOptions {
  readonly retentionDays: number;
  readonly logRetentionDays: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** SQL: what goes, a row each with `version_id`, `executions`, `logs`, `bytes` and `id`; and its parameters. */
interface Going {
  readonly text: string;
  readonly values: readonly number[];
}

/** Changes nothing. Reads what is due as a whole: minutes where that is millions. */
export async function previewRemoval(
  database: Pick<Database, "query">,
  options: PreviewOptions,
): Promise<RemovalPreview> {
  const { going, ...days } = await listGoing(database, options);
  const services = new Map<string | null, ServiceRemoval>();
  const named = new Map<string, number>();
  for (const { text, values } of going) {
    const counted = { values, idempotent: true };
    for (const row of await database.query<ServiceRemoval>({ text: perService(text), ...counted }))
      services.set(row.serviceKey, addUp(services.get(row.serviceKey), row));
    for (const { hash, count } of await database.query<{ hash: string; count: number }>({
      text: perObject(text),
      ...counted,
    }))
      named.set(hash, (named.get(hash) ?? 0) + count);
  }
  return { ...days, services: [...services.values()], named };
}

/** As a round does it: days that are closed, what goes early of the others, and what was kept for longer. */
async function listGoing(
  database: Pick<Database, "query">,
  { retentionDays, logRetentionDays, now }: PreviewOptions,
) {
  const logDays = Math.min(logRetentionDays, retentionDays);
  const due = { days: [] as string[], logDays: [] as string[], waiting: [] as string[] };
  const going: Going[] = [];
  for (const { name, hasLogs } of await listClosable(database)) {
    const day = readDay(name);
    const age = now - day.end;
    const isDue = age >= retentionDays * DAY;
    const areLogsDue = hasLogs && age >= logDays * DAY;
    const waits = (isDue || areLogsDue) && (await hasUnended(database.query, day));
    if (waits) due.waiting.push(name);
    if (areLogsDue && !waits) {
      due.logDays.push(name);
      going.push({ text: goneLogs(day), values: [now, retentionDays, logDays] });
    }
    if (isDue && !waits) {
      due.days.push(name);
      going.push({ text: goneExecutions(day), values: [now, retentionDays] });
    } else
      going.push({ text: goneEarly(day, hasLogs && (waits || !areLogsDue)), values: fromEarly(day, now) });
  }
  going.push({ text: GONE_KEPT, values: [now] }, { text: GONE_KEPT_LOGS, values: [now] });
  return { ...due, going };
}

const NOW = "to_timestamp($1::float8 / 1000)";
const RESULT_EXPIRY = "e.ended_at + make_interval(days => coalesce(e.result_days, $2::int))";

const goneLogs = ({
  name,
}: Day) => `select e.version_id, 0 as executions, 1 as logs, octet_length(l.lines) as bytes, l.id
  from execution_p${name} e join execution_log_p${name} l on l.id = e.id
  where least(${RESULT_EXPIRY}, e.ended_at + make_interval(days => coalesce(e.log_days, $3::int))) <= ${NOW}`;
const goneExecutions = ({
  name,
}: Day) => `select e.version_id, 1 as executions, 0 as logs, coalesce(octet_length(r.result) + coalesce(octet_length(r.metadata), 0), 0) as bytes, e.id
  from execution_p${name} e left join execution_result_p${name} r on r.id = e.id where ${RESULT_EXPIRY} <= ${NOW}`;
/** One row for each execution, with or without its log. */
const goneEarly = (day: Day, hasLogs: boolean) => `select e.version_id, e.is_all::int as executions,
    ${hasLogs ? "(l.bytes is not null)::int" : "0"} as logs,
    coalesce(octet_length(r.result) + coalesce(octet_length(r.metadata), 0), 0) + ${hasLogs ? "coalesce(l.bytes, 0)" : "0"} as bytes, e.id
  from (${selectEarly(day)}) e left join execution_result_p${day.name} r on r.id = e.id and e.is_all
  ${hasLogs ? `left join lateral (select sum(octet_length(lines)) as bytes from execution_log_p${day.name} l where l.id = e.id) l on true` : ""}`;
const GONE_KEPT = `select e.version_id, 1 as executions, 0 as logs, coalesce(octet_length(r.result) + coalesce(octet_length(r.metadata), 0), 0) as bytes, e.id
  from kept_execution e left join kept_result r on r.id = e.id where e.expires_at <= ${NOW}`;
const GONE_KEPT_LOGS = `select coalesce(e.version_id, k.version_id) as version_id, 0 as executions, 1 as logs, octet_length(l.lines) as bytes, l.id
  from kept_log l left join execution e on e.id = l.id left join kept_execution k on k.id = l.id where l.expires_at <= ${NOW}`;

/** SQL: adds up rows of what is gone. */
function perService(gone: string): string {
  return `select s.key as "serviceKey", s.name as service, sum(g.executions)::float8 as executions,
      count(distinct g.id) filter (where g.logs > 0)::float8 as logs, sum(g.bytes)::float8 as bytes
    from (${gone}) g left join version v on v.id = g.version_id left join service s on s.key = v.service_key
    group by s.key, s.name`;
}

/** SQL: how many of the results that go name each object. */
function perObject(gone: string): string {
  return `select o.hash, count(*)::float8 as count from execution_output o join (${gone}) g on g.id = o.execution_id
    where g.executions > 0 group by o.hash`;
}

function addUp(known: ServiceRemoval | undefined, more: ServiceRemoval): ServiceRemoval {
  if (known === undefined) return more;
  return {
    ...known,
    executions: known.executions + more.executions,
    logs: known.logs + more.logs,
    bytes: known.bytes + more.bytes,
  };
}
