-- What running executions report of themselves: a row only for those that do, so it is no table of days. It goes with its execution, or where
-- that is kept for longer, stays in its place.
create table execution_progress (
  execution_id uuid not null,
  -- Of another attempt it is void.
  attempt integer not null,
  -- Null: none was reported.
  fraction double precision constraint execution_progress_fraction check (fraction between 0 and 1),
  message text,
  reported_at timestamptz not null,
  -- JSON text of an object. Null: there is none.
  checkpoint bytea,
  checkpoint_at timestamptz,
  constraint execution_progress_pkey primary key (execution_id)
);
-- It is written again and again: pglz would take tens of milliseconds each time.
alter table execution_progress alter column checkpoint set storage external;
