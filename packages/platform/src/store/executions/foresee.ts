import { DAY } from "@platform/engine/base/time";
import { getLowestUuid } from "@platform/engine/base/uuid";
import type { LimitPlaces } from "@platform/engine/store/limit-line";
import type { ExecutionQuota } from "@platform/engine/store/quota";
import type { ForeseenStart, StartOutlook, StartPrice } from "@platform/engine/store/start-outlook";
import { kindOf } from "@platform/engine/store/kinds";
import type { Database } from "../../postgres/database.ts";
import { toStoredResources } from "../base/columns.ts";
import { THIS_MONTH } from "../base/quotas.ts";
import { refuseEnded } from "./ended-owners.ts";
import { QUOTA_COLUMNS, SELECT_QUOTAS, describeLeft, refuseBeyondLimit } from "./hold.ts";
import type { QuotaRow } from "./hold.ts";
import { selectPlaces } from "./limited.ts";
import { createQueueHorizon } from "./queue-horizon.ts";
import { RANK_OF_ONE } from "./rank.ts";
import { TAKES_WORK } from "./workers.ts";

/*
 * What a start would find (`foresee` of the store), in one statement that locks nothing and changes nothing. It reads what the statement that
 * creates executions reads under locks: whether the owner has ended, its quota, and the place in the queue.
 *
 * Prices follow the rules of usage (usage/cost.ts): units beyond the included ones of the month cost, and of an execution that is partly beyond, that
 * part of its price. What has not ended yet is not among the units that are used.
 */

/** Runs that say how much CPU time the next takes: of the last ones of the owner that succeeded, those of the same version. */
const LAST = 100;
/** They are looked for in so many days. */
const LAST_DAYS = 31;
/** Amounts are exact to so many decimals, as those of usage. */
const SCALE = 12;

/** SQL: what one execution with so many CPU-seconds costs; null where they are null. */
const costOf = (cpuSeconds: string) => `(select trim_scale(round(
        (p.per_execution + p.per_cpu_second * cpu.seconds)
          * case when units.of_it > 0
            then (greatest(0, used.units + units.of_it - p.included_quota) - greatest(0, used.units - p.included_quota)) / units.of_it
            else (used.units >= p.included_quota)::int end, ${SCALE}))::text
      from (select ${cpuSeconds} as seconds) cpu
      cross join lateral (select case p.unit when 'cpu-second' then cpu.seconds else 1 end as of_it) units)`;

/** SQL: the CPU time that a share of the last runs has not exceeded; where it costs nothing, it need not be known. */
const secondsOf = (share: number) =>
  `case when p.per_cpu_second = 0 and p.unit = 'execution' then 0
      else (select percentile_disc(${share}) within group (order by cpu_micros) * 0.000001 from runs) end`;

/**
 * Parameters: lowest id in the queue, lowest id of the day after tomorrow, kind and id of the owner, organisation that is billed, version, vCPUs and
 * memory in thousandths, time limit in seconds, lowest id of the runs that are looked at, priority, service whose limits hold for it, and the kind of workers.
 */
const FORESEE = `with t as materialized (
    select $4::uuid as owner_id, $7::int as cpu_milli, $8::int as memory_milli, $11::smallint as priority
  ), running as materialized (
    -- In the order of the index of leases: without it the planner may read the days by their ids.
    select e.worker_id, sum(e.cpu_milli) as cpu, sum(e.memory_milli) as memory from (
      select * from execution r where r.lease_until is not null and r.id >= $1 and r.id < $2 order by r.lease_until
    ) e group by e.worker_id
  ), runs as materialized (
    select cpu_micros from (
      select e.version_id, e.cpu_micros from execution e
      where (e.owner_id, e.status) = ($4::uuid, 'SUCCEEDED') and e.id >= $10::uuid and e.id < $2
      order by e.id desc limit ${LAST}
    ) e where e.version_id = $6::uuid and e.cpu_micros is not null
  ), used as materialized (
    select coalesce(sum(u.succeeded + u.failed + u.unknown - u.uncounted), 0) as executions, coalesce(sum(u.cpu_micros), 0) * 0.000001 as cpu_seconds
    from subscription b join subscription o on o.application_id = b.application_id and o.service_key = b.service_key
    cross join lateral (
      select * from usage_day d where d.organisation_id = $5::uuid and d.day >= ${THIS_MONTH} and d.owner_id = o.id
      union all select * from usage_entry d where d.organisation_id = $5::uuid and d.day >= ${THIS_MONTH} and d.owner_id = o.id
    ) u where b.id = $4::uuid
  ), price as (
    select p.currency, trim_scale(p.per_execution)::text as "perExecution", trim_scale(p.per_cpu_second)::text as "perCpuSecond",
      greatest(0, p.included_quota - used.units)::float8 as "includedLeft",
      ${costOf(secondsOf(0.5))} as typical, ${costOf(secondsOf(0.9))} as long, ${costOf("$7::int * $9::int * 0.001")} as most
    from subscription b join plan p on p.id = b.plan_id
    cross join lateral (select case p.unit when 'cpu-second' then u.cpu_seconds else u.executions end as units from used u) used
    where b.id = $4::uuid and $3::text = 'subscription'
  )
  select (select row_to_json(price) from price) as price,
    (select row_to_json(q) from (select ${QUOTA_COLUMNS} from (${SELECT_QUOTAS} where q.subscription_id = $4::uuid and $3::text = 'subscription') quotas) q) as quota,
    exists (select 1 from subscription b where b.id = $4::uuid and $3::text = 'subscription' and (b.cancelled_at is not null or b.ended_at is not null))
      or exists (select 1 from organisation o where o.id = $4::uuid and $3::text = 'organisation' and o.deleted_at is not null) as "hasEnded",
    (select (${RANK_OF_ONE})::float8 from t) as rank,
    exists (select 1 from worker w where ${TAKES_WORK} and w.kind = $13::text
      and w.cpu_milli - coalesce((select r.cpu from running r where r.worker_id = w.id), 0) >= $7::int
      and w.memory_milli - coalesce((select r.memory from running r where r.worker_id = w.id), 0) >= $8::int) as "hasRoom",
    (select row_to_json(l) from (${selectPlaces("$12::uuid", "$4::uuid")}) l) as places`;

interface Row {
  readonly price: StartPrice | null;
  readonly quota: QuotaRow | null;
  readonly hasEnded: boolean;
  readonly rank: number;
  readonly hasRoom: boolean;
  readonly places: LimitPlaces | null;
}

/** @throws Problem NOT_SUBSCRIBED, FORBIDDEN, QUOTA_EXCEEDED, RATE_LIMITED, UNAVAILABLE */
export function createForesight(database: Database): (start: ForeseenStart) => Promise<StartOutlook> {
  const readHorizon = createQueueHorizon(database);
  return async (start) => {
    const { owner } = start;
    const [row] = await database.query<Row>({
      name: "execution-foresee",
      text: FORESEE,
      values: toParameters(start, await readHorizon()),
      idempotent: true,
    });
    if (row === undefined) throw new Error("The statement returned no row.");
    if (row.hasEnded) throw refuseEnded(owner);
    const { quota: limits } = row;
    const quotaAfter = limits === null ? undefined : (started: number) => requireWithin(limits, started);
    const quota = quotaAfter?.(0);
    return {
      place: { priority: start.priority ?? 0, rank: row.rank },
      hasRoom: row.hasRoom,
      ...(row.places === null ? {} : { places: row.places }),
      ...(quota === undefined ? {} : { quota }),
      ...(quotaAfter === undefined ? {} : { quotaAfter }),
      ...(row.price === null ? {} : { price: row.price }),
    };
  };
}

/** @throws Problem QUOTA_EXCEEDED, RATE_LIMITED */
function requireWithin(limits: QuotaRow, started: number): ExecutionQuota | undefined {
  const refusal = refuseBeyondLimit(limits, started);
  if (refusal !== undefined) throw refusal;
  return describeLeft(limits, started);
}

function toParameters(
  { owner, versionId, resources, timeoutSeconds, priority = 0, limitKey }: ForeseenStart,
  horizon: string,
): readonly unknown[] {
  const { cpu_milli, memory_milli } = toStoredResources(resources);
  const today = Math.floor(Date.now() / DAY) * DAY;
  return [
    horizon,
    getLowestUuid(today + 2 * DAY),
    owner.kind,
    owner.id,
    owner.organisationId,
    versionId,
    cpu_milli,
    memory_milli,
    timeoutSeconds,
    getLowestUuid(today - LAST_DAYS * DAY),
    priority,
    limitKey ?? null,
    kindOf(priority),
  ];
}
