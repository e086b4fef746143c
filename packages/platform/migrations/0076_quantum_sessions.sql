-- Sessions of quantum jobs: they pin the version of a backend, and their jobs go before others of their organisation.
set local lock_timeout = '3s';

create table quantum_session (
  id uuid not null,
  organisation_id uuid not null,
  backend_id text not null,
  alias_of text,
  provider text not null,
  service_key uuid not null,
  version_id uuid not null,
  mode text not null,
  metadata jsonb not null,
  sdk_provider text,
  created_by uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  accepts_jobs boolean not null default true,
  closed_at timestamp(3) with time zone,
  constraint quantum_session_pkey primary key (id),
  constraint quantum_session_organisation foreign key (organisation_id) references organisation (id),
  constraint quantum_session_service foreign key (service_key) references service (key),
  constraint quantum_session_version foreign key (version_id) references version (id),
  constraint quantum_session_author foreign key (created_by) references platform_user (id)
);

create index quantum_session_newest on quantum_session (organisation_id, created_at desc, id desc);

alter table execution
  -- Of a quantum job.
  add column session_id uuid;

create index execution_session on execution (session_id, id) where session_id is not null;
-- The last that waits of the sessions of an organisation.
create index execution_session_line on execution (owner_id, rank) where status = 'PENDING' and held is null and session_id is not null;
