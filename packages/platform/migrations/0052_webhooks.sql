-- URLs that are told what becomes of the executions of an application. Deleted with the application.
create table webhook (
  id uuid constraint webhook_pkey primary key,
  application_id uuid not null constraint webhook_application references application (id),
  url text not null,
  events text[] not null,
  is_paused boolean not null default false,
  -- Sealed; the former one signs as well until its end.
  secret text not null,
  key_id text not null,
  former_secret text,
  former_key_id text,
  former_until timestamptz(3),
  created_by uuid not null constraint webhook_author references platform_user (id),
  created_at timestamptz(3) not null default now(),
  constraint webhook_former_consistent check (num_nulls(former_secret, former_key_id, former_until) in (0, 3))
);
create index webhook_of_application on webhook (application_id, id);

-- Messages: a queue with leases, and the log of what was sent.
create table webhook_delivery (
  id uuid constraint webhook_delivery_pkey primary key,
  webhook_id uuid not null constraint webhook_delivery_webhook references webhook (id) on delete cascade,
  -- Null: a test.
  execution_id uuid,
  event text not null,
  body text not null,
  status text not null default 'PENDING' constraint webhook_delivery_status check (status in ('PENDING', 'DELIVERED', 'FAILED')),
  attempt integer not null default 0,
  next_at timestamptz not null default now(),
  -- It is given up after this time.
  give_up_at timestamptz not null default now() + interval '24 hours',
  lease_until timestamptz,
  worker_id text,
  attempts jsonb not null default '[]',
  created_at timestamptz(3) not null default now()
);
-- How far events of the feed have become messages.
create table webhook_mark (
  is_only boolean constraint webhook_mark_pkey primary key default true constraint webhook_mark_is_only check (is_only),
  position bigint not null
);
insert into webhook_mark (position) values (0);
create index webhook_delivery_due on webhook_delivery (webhook_id, next_at) where status = 'PENDING';
create index webhook_delivery_held on webhook_delivery (webhook_id) where lease_until is not null;
create index webhook_delivery_log on webhook_delivery (webhook_id, id);
