-- What a process has for executions of backends, which it registers a worker for only once there is a backend.
set local lock_timeout = '3s';

alter table platform_process
  -- Null: it runs none.
  add column backend_cpu_milli integer,
  add column backend_memory_milli integer;
