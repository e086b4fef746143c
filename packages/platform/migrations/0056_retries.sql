-- While this waits for a lock, every statement on executions waits behind it. It is tried again.
set local lock_timeout = '3s';

-- What its service has chosen when it was started (RetryPolicy); null: it is never started again. How many attempts have failed and are followed
-- by another: the next one has this number and 1. A process of a former release, which knows nothing of both, ends what fails.
alter table execution add column retries jsonb,
  add column retried smallint not null default 0
    constraint execution_retried_known check (retried = 0 or (retries is not null and retried between 1 and 9));
-- It has attempts then.
alter table kept_execution add column retried smallint not null default 0;

-- Attempts that failed and are followed by another: a row only for those, so it is no table of days. They go with their execution, or where that is
-- kept for longer, stay in their place.
create table execution_attempt (
  execution_id uuid not null,
  -- The first is 1.
  number smallint not null constraint execution_attempt_number check (number between 1 and 9),
  -- That of its claim: it is no other where some of them could not be started.
  attempt integer not null,
  worker_id text not null,
  started_at timestamptz(3) not null,
  -- When that was known.
  ended_at timestamptz(3) not null,
  code text not null,
  -- Shortened. Empty: removed.
  detail text not null,
  -- CPU time that was measured; null: none was.
  cpu_micros bigint,
  constraint execution_attempt_pkey primary key (execution_id, number)
);
