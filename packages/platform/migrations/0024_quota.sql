-- How many executions of this month a subscription with a cap has started.

create table quota (
  -- No foreign key: its check would lock the subscription's row with each start.
  subscription_id uuid primary key,
  -- Of the plan; null: there is no cap any more. The count goes on, or a change of plans and back would begin it anew.
  cap bigint constraint quota_cap_positive check (cap > 0),
  -- First day of the month, UTC, that `used` is of; in another month it counts as 0.
  month date not null,
  -- Executions that wait, run, or have ended, but for those that the platform has failed.
  used bigint not null constraint quota_used_natural check (used >= 0)
) with (fillfactor = 20);

-- The month in which it was counted; null: it was not.
alter table execution add column quota_month date;

insert into quota (subscription_id, cap, month, used)
  select b.id, p.hard_cap, date_trunc('month', now() at time zone 'UTC'), 0
  from subscription b join plan p on p.id = b.plan_id
  where b.cancelled_at is null and p.hard_cap is not null and p.unit = 'execution';
