import { DAY } from "@platform/engine/base/time";
import type { Database } from "../../postgres/database.ts";
import { hasUnended, listClosable } from "./close-days.ts";
import { readDay } from "./days.ts";
import type { Day } from "./days.ts";

/** What of one service the next round removes. */
interface ServiceRemoval {
  /** Null: no version of this execution is known. */
  readonly serviceKey: string | null;
  readonly service: string | null;
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
}

/** What counts, and when. */
interface PreviewOptions {
  readonly retentionDays: number;
  readonly logRetentionDays: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Changes nothing. Reads what is due as a whole: minutes where that is millions. */
export async function previewRemoval(
  database: Pick<Database, "query">,
  { retentionDays, logRetentionDays, now }: PreviewOptions,
): Promise<RemovalPreview> {
  const logDays = Math.min(logRetentionDays, retentionDays);
  const due = { days: [] as string[], logDays: [] as string[], waiting: [] as string[] };
  const services = new Map<string | null, ServiceRemoval>();
  const count = async (text: string, values: readonly number[]) => {
    const rows = await database.query<ServiceRemoval>({ text: perService(text), values, idempotent: true });
    for (const row of rows) services.set(row.serviceKey, addUp(services.get(row.serviceKey), row));
  };
  for (const { name, hasLogs } of await listClosable(database)) {
    const day = readDay(name);
    const age = now - day.end;
    const isDue = age >= retentionDays * DAY;
    if (!isDue && !(hasLogs && age >= logDays * DAY)) continue;
    if (await hasUnended(database.query, day)) due.waiting.push(name);
    else {
      if (hasLogs) {
        due.logDays.push(name);
        await count(goneLogs(day), [now, retentionDays, logDays]);
      }
      if (!isDue) continue;
      due.days.push(name);
      await count(goneExecutions(day), [now, retentionDays]);
    }
  }
  await count(GONE_KEPT, [now]);
  await count(GONE_KEPT_LOGS, [now]);
  return { ...due, services: [...services.values()] };
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

function addUp(known: ServiceRemoval | undefined, more: ServiceRemoval): ServiceRemoval {
  if (known === undefined) return more;
  return {
    ...known,
    executions: known.executions + more.executions,
    logs: known.logs + more.logs,
    bytes: known.bytes + more.bytes,
  };
}
