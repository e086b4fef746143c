-- The processes of the platform, for its operators: each writes its row every few seconds, and takes it away when it stops.
create table platform_process (
  id text primary key,
  host text not null,
  pid integer not null,
  roles text[] not null,
  version text not null,
  started_at timestamptz(3) not null,
  seen_at timestamptz(3) not null default now(),
  -- Of the data directory's disk.
  disk_free bigint not null,
  disk_total bigint not null,
  -- What is wrong with it, as /readyz says: part, detail and effect of each.
  faults jsonb not null,
  -- Level and missing parts of the isolation of user code; null: the process runs none.
  sandbox jsonb,
  python text
);

-- Since when a worker takes no more work, because an operator said so.
alter table worker add column draining_since timestamptz(3);
