import { selectMilliseconds } from "../base/columns.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { isDraining } from "../base/draining.ts";
import { NOTED_COLUMNS, noteStates } from "./note-states.ts";
import { isQueued } from "./queue-rows.ts";
import { ENDED_OWNERS, LOCK_OWNERS, lockOwner } from "./ended-owners.ts";
import { ADMITTED, UNUSED, WON_ONE } from "./idempotency-keys.ts";
import { BEHIND_RUNNING, describeRanks } from "./rank.ts";
import {
  CPU_HELD,
  HOLD,
  HOLD_ONE,
  LOCK_QUOTAS,
  NO_QUOTA,
  PLACES,
  QUOTA_COLUMNS,
  SELECT_QUOTAS,
  createdIn,
} from "./hold.ts";

/**
 * Something else waits, whose turn would be before; or the worker $3 that would claim takes no more work. The order is that of the
 * queue's index: for "exists", a planner that has counted while a day's executions waited would read the day by its ids.
 */
const IS_ANY_PENDING = `((select e.id from execution e where ${isQueued("e")} and e.id >= $1 and e.id < $2
    order by e.priority desc, e.rank, e.id limit 1) is not null or ${isDraining("$3::text")})`;

/** Whether the executions are claimed as they are created, by the worker $3. */
const IS_CLAIMED = `$3::text is not null and not ${IS_ANY_PENDING}`;

/** SQL: the deadline of a start; null where there are no seconds. */
const startBy = (since: string, seconds: string) => `${since} + make_interval(secs => ${seconds})`;

/** What the API keeps of an execution, beside its references. */
export const ANNOTATION = "annotation";

/** SQL: the session of a quantum job, which its annotation names. */
const sessionOf = (refs: string) => `(${refs}::jsonb #>> '{${ANNOTATION},sessionId}')::uuid`;

/** SQL: what a statement has besides, for starts of which some need it. */
interface Additions {
  /** CTEs at the end. */
  readonly more: string;
  /** Further arrays, and their columns of `input`. */
  readonly arrays: string;
  readonly columns: string;
  /** CTEs that leave out of `input` what goes no further, and the name of the last. */
  readonly unused: string;
  readonly candidates: string;
  /** The same of `allowed`. */
  readonly admitted: string;
  readonly inserted: string;
}

const NOTHING: Additions = {
  more: "",
  arrays: "",
  columns: "",
  unused: "",
  candidates: "input",
  admitted: "",
  inserted: "allowed",
};

/**
 * SQL: inserts what is new, up to the limits of the owners. Parameters: lowest id in the queue, lowest id of the day after tomorrow,
 * worker, claim id, lease in seconds and sandbox level of a claim (null: there is none), arrays of the first columns of `input`,
 * bodies ($16), origin of events, starts and lengths in the bodies, days for which the service keeps results and logs, priorities, when it
 * retries, and when they are to begin, in milliseconds since the epoch, services that have limits, and in how many seconds they must have begun; of KEYED the hashes of keys and requests.
 */
const buildCreate = (given: Partial<Additions>): string => {
  const { more, arrays, columns, unused, candidates, admitted, inserted } = { ...NOTHING, ...given };
  return `with input as (
    select * from unnest($7::uuid[], $8::text[], $9::uuid[], $10::uuid[], $11::uuid[], $12::int[], $13::int[], $14::int[], $15::text[],
        $18::int[], $19::int[], $20::smallint[], $21::smallint[], $22::smallint[], $23::jsonb[], $24::float8[], $25::uuid[], $26::int[]${arrays})
      -- The position keeps the order in which the executions of an owner were added.
      with ordinality
      as i (id, owner_kind, owner_id, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds, refs, start, length, result_days, log_days, priority, retries,
        start_ms, limit_key, start_within, ${columns}position)
  ), ${LOCK_OWNERS}, ${LOCK_QUOTAS}, ${unused}placed as (
    select *, to_timestamp(start_ms / 1000) as start_at, case when to_timestamp(start_ms / 1000) > now() then 'START_AT' when limit_key is not null then 'LIMIT' end as held
    from ${candidates}
  ), ${describeRanks("placed")}, allowed as (
    select r.*, room.months[known.at] as quota_month, room.holds[known.at] as cpu_held
    from ranked r cross join room cross join lateral array_position(room.owners, r.owner_id) as known (at)
    where (room.places[known.at] is null or r.turn < room.places[known.at]) and r.owner_id <> all (${ENDED_OWNERS})
  ), ${admitted}claim as materialized (
    select ${IS_CLAIMED} as is_claimed
  ), created as (
    -- Leaves out ids that exist: of a create that is repeated after its answer was lost. What is claimed has the values
    -- that a claim gives (claim.ts), and starts at the moment of its creation: now() is not cut as that is.
    insert into execution (id, owner_kind, owner_id, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds,
      created_at, rank, quota_month, cpu_held, result_days, log_days, priority, retries, start_at, start_by, held, limit_key, status, attempt, worker_id, claim_id, started_at, lease_until,
      sandbox_level, session_id)
    select id, owner_kind, owner_id, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds,
      created_at, rank, quota_month, cpu_held, result_days, log_days, priority, retries, start_at, ${startBy("greatest(created_at, start_at)", "start_within")}, held, limit_key, case when is_claimed then 'RUNNING' else 'PENDING' end, case when is_claimed then 1 else 0 end,
      case when is_claimed then $3 end, case when is_claimed then $4::uuid end, case when is_claimed then created_at end,
      case when is_claimed then now() + make_interval(secs => $5) end, case when is_claimed then $6 end, ${sessionOf("refs")}
    from ${inserted} cross join claim cross join lateral (select ${createdIn("quota_month")} as created_at) moment on conflict do nothing
    returning ${NOTED_COLUMNS}, created_at, quota_month, cpu_held, held
  ), ${HOLD}, ${noteStates("created")}, bodies as (
    -- The body of an id that exists is there already, and stays.
    insert into execution_input (id, body, "references")
    select id, substr($16::bytea, start, length), refs::jsonb from ${inserted} on conflict do nothing
  )${more}, notified as materialized (
    -- PostgreSQL evaluates this only because the query below refers to it.
    select case when exists (select 1 from created where held is null) then pg_notify('${EXECUTIONS_CHANNEL}', $17 || ':pending') end,
      case when exists (select 1 from created where held is not null) then pg_notify('${EXECUTIONS_CHANNEL}', $17 || ':held') end
    where exists (select 1 from created where status = 'PENDING')
  )
  -- The quotas of the owners, owners that have ended, and what was created. Lists of their own: joining them would be quadratic.
  select null::uuid as id, null::float8 as "createdAt", null::boolean as "isClaimed", null::text as held, false as "hasEnded", ${QUOTA_COLUMNS} from quotas
  union all
  select null, null, null, null, true, owner_id, ${NO_QUOTA} from ended cross join unnest(owners) as owner_id
  union all
  select id, ${selectMilliseconds("created_at")}, status = 'RUNNING', held, false, owner_id, ${NO_QUOTA} from created left join notified on true`;
};

/** Beside the references, in the column that has them: where the result is stored besides. */
export const PERSIST_TO = "persistTo";
/** There as well: the data pool that gets files of the run. */
export const OUTPUT_POOL = "outputPool";
/** There as well: where the execution belongs in a trace. */
export const TRACE = "trace";
/** There as well: who is told what becomes of it. */
export const WEBHOOK_URL = "webhookUrl";

const pin = (inserted: string): string => `, pinned as (
    insert into execution_object (execution_id, role, hash)
    select id, pin.key, pin.value ->> 'sha256' from ${inserted} cross join lateral jsonb_each(refs::jsonb - '{${PERSIST_TO},${OUTPUT_POOL},${TRACE},${WEBHOOK_URL},${ANNOTATION}}'::text[]) as pin (key, value)
    where pin.key <> 'pools'
    union all
    select id, 'pool', hash #>> '{}' from ${inserted} cross join lateral jsonb_path_query(refs::jsonb, '$.pools[*].files[*].sha256') as hash
    on conflict do nothing
  )`;

const KEYED = {
  arrays: ", $27::uuid[], $28::uuid[]",
  columns: "key_hash, request_hash, ",
  unused: `${UNUSED}, `,
  candidates: "unused",
  admitted: `${ADMITTED}, `,
  inserted: "admitted",
} as const;

/** SQL: for starts without references, which are nearly all: a node less. */
export const CREATE = buildCreate({});

/** SQL: the same, where some have references or store their result besides: names the objects that they read, which are kept while they have not ended. */
export const CREATE_PINNED = buildCreate({ more: pin("allowed") });

/** SQL: the same two where some have idempotency keys: what such a key has started before is left out. */
export const CREATE_KEYED = buildCreate(KEYED);
/** SQL: the second of them. */
export const CREATE_KEYED_PINNED = buildCreate({ ...KEYED, more: pin(KEYED.inserted) });

/** SQL: whether the one execution may be created. */
const MAY_START = `not is_any and (${PLACES} > 0) is not false and $9::uuid <> all (${ENDED_OWNERS})`;

const buildClaimed = (won: string, condition: string): string => `with pending as materialized (
    select ${IS_ANY_PENDING} as is_any
  ), ${lockOwner("$8::text", "$9::uuid")}, quotas as materialized (
    ${SELECT_QUOTAS} where q.subscription_id = $9::uuid and $8::text = 'subscription' and q.subscription_id <> all (${ENDED_OWNERS})
    for no key update
  ), ${won}created as (
    insert into execution (id, owner_kind, owner_id, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds,
      created_at, rank, quota_month, cpu_held, result_days, log_days, priority, retries, start_by, status, attempt, worker_id, claim_id, started_at, lease_until, sandbox_level, session_id)
    select $7::uuid, $8, $9::uuid, $10::uuid, $11::uuid, t.cpu_milli, t.memory_milli, $14::int,
      created_at, coalesce(${BEHIND_RUNNING}, 0), month, ${CPU_HELD}, $17::smallint, $18::smallint, t.priority, $20::jsonb, ${startBy("created_at", "$21::int")}, 'RUNNING', 1, $3::text, $4::uuid, created_at,
      now() + make_interval(secs => $5), $6::text, ${sessionOf("$15::text")}
    from pending cross join (select $12::int as cpu_milli, $13::int as memory_milli, $19::smallint as priority) t left join quotas on true
      cross join lateral (select ${createdIn("month")} as created_at) moment
    where ${condition} on conflict do nothing
    returning ${NOTED_COLUMNS}, created_at, quota_month, cpu_held
  ), ${HOLD_ONE}, ${noteStates("created")}, bodies as (
    insert into execution_input (id, body, "references") select id, $16::bytea, $15::text::jsonb from created
  )
  select pending.is_any as "isAnyPending", ${selectMilliseconds("created_at")} as "createdAt",
    $9::uuid = any (${ENDED_OWNERS}) as "hasEnded", ${QUOTA_COLUMNS}
  from pending left join created on true left join quotas on true`;

/**
 * SQL: the same for one execution that a worker claims as it is created, with a third of the plan: nothing is pending that it has to
 * be placed among. Parameters: the first 16, those of `input` as values, the days, the priority, the retries and in how many seconds it must have begun. One row; "isAnyPending": nothing was changed, CREATE decides.
 */
export const CREATE_CLAIMED = buildClaimed("", MAY_START);

/** SQL: the same with an idempotency key: parameters $22 and $23 are its hash and that of the request. */
export const CREATE_CLAIMED_KEYED = buildClaimed(
  `${WON_ONE("$9::uuid, $22::uuid, $23::uuid, $7::uuid", `pending left join quotas on true where ${MAY_START}`)}, `,
  "exists (select 1 from won)",
);
