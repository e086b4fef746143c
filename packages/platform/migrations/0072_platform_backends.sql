-- Backends that operators give to all organisations, by ids of the platform: a service, or another name of such an id.
set local lock_timeout = '3s';

create table platform_backend (
  id text primary key,
  -- Null: an alias.
  service_key uuid references service (key),
  alias_of text references platform_backend (id) on delete cascade,
  shared_at timestamptz not null default now(),
  constraint platform_backend_target check (num_nonnulls(service_key, alias_of) = 1)
);

create index platform_backend_service on platform_backend (service_key) where service_key is not null;
create index platform_backend_alias on platform_backend (alias_of) where alias_of is not null;
