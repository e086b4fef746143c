-- What is used. Executions are removed after the retention period, usage stays.

-- CPU time of its processes as the worker measured it; null: it was not measured, or the execution has not ended.
alter table execution add column cpu_micros bigint;

-- The plan that a subscription has had since when: what an execution costs is decided by the plan of its start.
create table subscription_term (
  -- Without foreign keys: their checks would lock rows that starts read.
  subscription_id uuid not null,
  since timestamptz(3) not null,
  -- Null: none.
  plan_id uuid,
  primary key (subscription_id, since)
);

insert into subscription_term (subscription_id, since, plan_id) select id, created_at, plan_id from subscription;

-- A trigger, so that no statement that changes a plan can forget it.
create function note_subscription_term() returns trigger language plpgsql as $$
begin
  insert into subscription_term (subscription_id, since, plan_id)
    values (new.id, case tg_op when 'INSERT' then new.created_at else now() end, new.plan_id)
    on conflict (subscription_id, since) do update set plan_id = excluded.plan_id;
  return null;
end
$$;
create trigger subscription_made after insert on subscription for each row execute function note_subscription_term();
create trigger subscription_plan_changed after update of plan_id on subscription for each row
  when (old.plan_id is distinct from new.plan_id) execute function note_subscription_term();

-- What ended together, of one owner, version, plan and day: written by the statement that ends the executions, never changed, and
-- moved to usage_day within minutes.
create table usage_entry (
  -- On which the executions were created, UTC.
  day date not null,
  -- Whose they are: that of the application or, for jobs, the owner itself.
  organisation_id uuid not null,
  -- The subscription; for jobs the organisation.
  owner_id uuid not null,
  version_id uuid not null,
  -- Null: there was none.
  plan_id uuid,
  succeeded bigint not null,
  failed bigint not null,
  unknown bigint not null,
  -- Those of the above that count for nothing: failed by the platform, or never run.
  uncounted bigint not null,
  -- Of those that count.
  cpu_micros bigint not null,
  -- Millionths of GB x second: memory that was reserved, for the time that they ran; of those that count.
  gb_micros bigint not null
);

-- The sums of usage_entry; both together are what was used.
create table usage_day (
  like usage_entry,
  constraint usage_day_line unique nulls not distinct (organisation_id, day, owner_id, version_id, plan_id)
) with (fillfactor = 80);
create index usage_day_of_version on usage_day (version_id, day);

-- What has ended before this migration. Its CPU time was not kept apart, and counts as none.
insert into usage_day (day, organisation_id, owner_id, version_id, plan_id, succeeded, failed, unknown, uncounted, cpu_micros, gb_micros)
  select (created_at at time zone 'UTC')::date, organisation_id, owner_id, version_id,
    (select t.plan_id from subscription_term t where t.subscription_id = e.owner_id and t.since <= e.created_at
      order by t.since desc limit 1) as plan_id,
    count(*) filter (where status = 'SUCCEEDED'), count(*) filter (where status = 'FAILED'),
    count(*) filter (where status = 'UNKNOWN'),
    count(*) filter (where failure_code in ('NOT_STARTED', 'WORKER_LOST') or started_at is null), 0,
    coalesce(sum(memory_milli * greatest(0, (extract(epoch from ended_at - started_at) * 1000)::bigint))
      filter (where started_at is not null and coalesce(failure_code, '') not in ('NOT_STARTED', 'WORKER_LOST')), 0)
  from execution e where ended_at is not null group by 1, 2, 3, 4, 5;
