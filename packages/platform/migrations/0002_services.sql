-- Services, their versions and builds; applications with access keys and subscriptions; the gateway's signing keys.
-- Archives lie in the object store under their hash.

create table service (
  key uuid not null,
  organization_id text not null,
  name text not null,
  description text not null default '',
  publication text,
  created_at timestamptz(3) not null default now(),
  constraint service_pkey primary key (key),
  constraint service_name_unique unique (organization_id, name),
  constraint service_publication_known check (publication in ('internal'))
);

create index service_organization on service (organization_id, key);

create table version (
  id uuid not null,
  service_key uuid not null,
  major integer not null,
  minor integer not null,
  patch integer not null,
  archive_hash text not null,
  content_hash text not null,
  cpu_milli integer not null,
  memory_mb integer not null,
  timeout_seconds integer not null,
  start_mode text not null,
  input_schema jsonb,
  output_schema jsonb,
  description text not null default '',
  created_at timestamptz(3) not null default now(),
  retired_at timestamptz(3),
  constraint version_pkey primary key (id),
  constraint version_service foreign key (service_key) references service (key),
  constraint version_number_unique unique (service_key, major, minor, patch),
  constraint version_resources_positive check (cpu_milli > 0 and memory_mb > 0 and timeout_seconds > 0),
  constraint version_start_mode_known check (start_mode in ('auto', 'spawn'))
);

create index version_content on version (service_key, content_hash);

create table build (
  id uuid not null,
  service_key uuid not null,
  major integer not null,
  minor integer not null,
  patch integer not null,
  archive_hash text not null,
  content_hash text not null,
  is_forced boolean not null default false,
  requested_by text not null,
  state text not null default 'PENDING',
  attempt integer not null default 0,
  worker_id text,
  lease_until timestamptz,
  failure_code text,
  failure_detail text,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  constraint build_pkey primary key (id),
  constraint build_service foreign key (service_key) references service (key),
  constraint build_state_known check (state in ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED')),
  constraint build_finished_told check ((finished_at is not null) = (state in ('SUCCEEDED', 'FAILED'))),
  constraint build_failure_told check ((failure_code is not null) = (state = 'FAILED'))
);

create index build_queue on build (id) where state in ('PENDING', 'RUNNING');
create index build_version on build (service_key, major, minor, patch, id);
create unique index build_one_at_a_time on build (service_key, major, minor, patch)
  where state in ('PENDING', 'RUNNING');

create table build_log (
  build_id uuid not null,
  line integer not null,
  text text not null,
  constraint build_log_pkey primary key (build_id, line),
  constraint build_log_build foreign key (build_id) references build (id) on delete cascade
);

create table application (
  id uuid not null,
  organization_id text not null,
  name text not null,
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  constraint application_pkey primary key (id)
);

create index application_organization on application (organization_id, id) where deleted_at is null;

create table access_key (
  id text not null,
  application_id uuid not null,
  secret_hash text not null,
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  constraint access_key_pkey primary key (id),
  constraint access_key_application foreign key (application_id) references application (id)
);

create index access_key_application_newest on access_key (application_id, created_at, id);

create table subscription (
  id uuid not null,
  application_id uuid not null,
  service_key uuid not null,
  created_at timestamptz(3) not null default now(),
  cancelled_at timestamptz(3),
  constraint subscription_pkey primary key (id),
  constraint subscription_application foreign key (application_id) references application (id),
  constraint subscription_service foreign key (service_key) references service (key)
);

create unique index subscription_one_active on subscription (application_id, service_key) where cancelled_at is null;
create index subscription_of_service on subscription (service_key);

create table signing_key (
  kid text not null,
  public_jwk jsonb not null,
  private_jwk_encrypted text not null,
  created_at timestamptz(3) not null default now(),
  retired_at timestamptz(3),
  constraint signing_key_pkey primary key (kid)
);
