-- What an owner's keys have started. Hashes: of the key, and of what was asked for with it.
create table idempotency_key (
  owner_id uuid not null,
  key_hash uuid not null,
  request_hash uuid not null,
  execution_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (owner_id, key_hash)
);
create index idempotency_key_created on idempotency_key (created_at);
