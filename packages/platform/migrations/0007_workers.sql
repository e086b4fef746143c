-- Which workers live and what each can run at most; renewed about once a second, by workers that count as gone after a silence
-- (store/executions/workers.ts). `reserved_execution_id`: what the worker makes room for; it may have ended meanwhile.

create table worker (
  id text not null,
  cpu_milli integer not null,
  memory_mb integer not null,
  seen_at timestamptz not null default now(),
  reserved_execution_id uuid,
  constraint worker_pkey primary key (id),
  constraint worker_capacity_positive check (cpu_milli > 0 and memory_mb > 0)
);
