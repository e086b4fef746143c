-- Sessions that executions of services open: no user does, and they end with their execution.
set local lock_timeout = '3s';

alter table quantum_session
  alter column created_by drop not null,
  add column service_execution_id uuid,
  -- A table of few rows: open for 8 hours at most, removed after a month.
  add constraint quantum_session_opener check (num_nonnulls(created_by, service_execution_id) = 1);
