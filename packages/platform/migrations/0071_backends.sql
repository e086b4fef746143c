-- Backends of quantum jobs. What a version says of itself as a backend is in its row; a service is the backend that its newest version names.
set local lock_timeout = '3s';

alter table version
  -- {"id", "description"}; null: of a service.
  add column backend jsonb;

alter table service add column backend_id text;

create unique index service_backend on service (organisation_id, backend_id) where backend_id is not null;

-- Whose executions it runs: those of backends have capacity of their own.
alter table worker
  add column kind text not null default 'service',
  add constraint worker_kind_known check (kind in ('service', 'backend'));

-- Lists of quantum jobs: the class of executions of backends (the engine's store/kinds.ts), which no execution changes.
create index execution_quantum on execution (owner_id, id desc) where priority = 2;
