-- What is kept for longer than the platform keeps executions by default. Not partitioned: claims and starts never look here, so that keeping
-- some for months does not keep whole days of the tables that they use. Only executions that have ended; every row is as it was moved, the days
-- included, until it expires.
create table kept_execution (
  id uuid not null,
  owner_id uuid not null,
  version_id uuid not null,
  status text not null,
  cpu_milli integer not null,
  memory_milli integer not null,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3) not null,
  sandbox_level text,
  failure_code text,
  failure_detail text,
  failure_metadata jsonb,
  result_days smallint not null,
  log_days smallint not null,
  expires_at timestamptz not null,
  constraint kept_execution_pkey primary key (id)
);
create index kept_execution_owner_status on kept_execution (owner_id, status, id);
create index kept_execution_expiry on kept_execution (expires_at);

create table kept_result (
  id uuid not null,
  result bytea not null,
  metadata bytea,
  has_output boolean not null default false,
  constraint kept_result_pkey primary key (id)
);

-- Logs of executions here, and of those whose day has no logs any more.
create table kept_log (
  id uuid not null,
  seq bigint not null,
  lines bytea not null,
  expires_at timestamptz not null,
  constraint kept_log_pkey primary key (id, seq)
);
create index kept_log_expiry on kept_log (expires_at);

-- How far a day is whose logs, or executions, are removed: what is kept for longer is copied first.
create table closed_day (
  kind text not null constraint closed_day_kind_known check (kind in ('logs', 'executions')),
  -- The lowest id of the day, and that of the next.
  from_id uuid not null,
  to_id uuid not null,
  -- For how many days they were kept by default. What is removed stays removed when others are chosen later.
  days smallint not null,
  copied_at timestamptz,
  removed_at timestamptz,
  constraint closed_day_pkey primary key (kind, from_id)
);
