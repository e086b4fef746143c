-- Caps of CPU-seconds, and executions at one time.

alter table execution
  -- Microseconds of CPU time that its start has held; null: its end settles nothing, as the plan has neither a cap of CPU-seconds
  -- nor a limit of executions at one time.
  add column cpu_held bigint;

alter table quota
  -- Microseconds of CPU time, of the plan; null: there is no cap.
  add column cpu_cap bigint constraint quota_cpu_cap_positive check (cpu_cap > 0),
  -- Microseconds of `month`: measured ones of what has ended, held ones of what has not.
  add column cpu_used bigint not null default 0 constraint quota_cpu_used_natural check (cpu_used >= 0),
  -- Microseconds that the next execution will hold: about the mean of those that ended last.
  add column cpu_expected bigint not null default 1000000 constraint quota_cpu_expected_positive check (cpu_expected > 0),
  -- Executions at one time, of the plan; null: any number.
  add column concurrent integer constraint quota_concurrent_positive check (concurrent > 0),
  -- Executions with `cpu_held` that wait or run.
  add column unended integer not null default 0 constraint quota_unended_natural check (unended >= 0);

update quota q set concurrent = p.max_concurrent
  from subscription b join plan p on p.id = b.plan_id where b.id = q.subscription_id;

insert into quota (subscription_id, cpu_cap, concurrent, month, used)
  select b.id, case when p.unit = 'cpu-second' then p.hard_cap * 1000000 end, p.max_concurrent,
    date_trunc('month', now() at time zone 'UTC'), 0
  from subscription b join plan p on p.id = b.plan_id
  where b.cancelled_at is null and ((p.unit = 'cpu-second' and p.hard_cap is not null) or p.max_concurrent is not null)
    and not exists (select 1 from quota q where q.subscription_id = b.id);

-- A subscription whose plan counted executions before may have a row already.
update quota q set cpu_cap = p.hard_cap * 1000000
  from subscription b join plan p on p.id = b.plan_id
  where b.id = q.subscription_id and p.unit = 'cpu-second' and q.cpu_cap is null;
