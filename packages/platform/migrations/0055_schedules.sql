-- What starts executions at times of a calendar. Deleted with the organisation; services and subscriptions may end before it.
create table schedule (
  id uuid constraint schedule_pkey primary key,
  organisation_id uuid not null constraint schedule_organisation references organisation (id),
  name text not null,
  cron text not null,
  time_zone text not null,
  overlap text not null constraint schedule_overlap check (overlap in ('skip', 'queue')),
  -- JSON text of a start body.
  body text not null,
  -- A service, whose jobs are started, or a subscription.
  service_key uuid,
  -- MAJOR or MAJOR.MINOR.PATCH; null: the highest live version.
  version text,
  subscription_id uuid,
  -- The next occurrence; null: it is paused.
  next_at timestamptz,
  -- When the next occurrence was computed: in the future after the clock was set back.
  planned_at timestamptz not null,
  -- Refusals in a row that would be repeated.
  refusals integer not null default 0,
  -- Why the platform has paused it.
  pause_code text,
  pause_detail text,
  paused_at timestamptz(3),
  -- The last execution that it has started.
  execution_id uuid,
  -- Jobs have the rights of this user.
  changed_by uuid not null constraint schedule_author references platform_user (id),
  created_at timestamptz(3) not null default now(),
  constraint schedule_name_unique unique (organisation_id, name),
  constraint schedule_target check (num_nonnulls(service_key, subscription_id) = 1 and (version is null or service_key is not null)),
  constraint schedule_pause_consistent check (num_nulls(pause_code, pause_detail, paused_at) in (0, 3) and (next_at is null or paused_at is null))
);
create index schedule_of_organisation on schedule (organisation_id, id);
create index schedule_due on schedule (next_at) where next_at is not null;
create index schedule_planned on schedule (planned_at) where next_at is not null;

-- Occurrences, and what became of them. The id of the execution is chosen before it is started, so that a start that is repeated makes one.
create table schedule_run (
  id uuid constraint schedule_run_pkey primary key,
  schedule_id uuid not null constraint schedule_run_schedule references schedule (id) on delete cascade,
  trigger text not null constraint schedule_run_trigger check (trigger in ('CRON', 'MANUAL')),
  due_at timestamptz not null,
  status text not null constraint schedule_run_status check (status in ('STARTING', 'STARTED', 'SKIPPED', 'MISSED', 'REFUSED')),
  execution_id uuid not null,
  code text,
  detail text,
  attempt integer not null default 0,
  -- Until when nobody else starts it; null: it has its end.
  lease_until timestamptz,
  created_at timestamptz(3) not null default now(),
  constraint schedule_run_lease check ((lease_until is not null) = (status = 'STARTING'))
);
create unique index schedule_run_once on schedule_run (schedule_id, due_at) where trigger = 'CRON';
create index schedule_run_log on schedule_run (schedule_id, id);
create index schedule_run_starting on schedule_run (lease_until) where status = 'STARTING';
