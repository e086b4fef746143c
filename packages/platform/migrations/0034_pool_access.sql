-- Other organisations that may use a data pool. A row goes when the share is withdrawn, or the pool or the organisation is deleted.
create table data_pool_share (
  pool_id uuid not null constraint data_pool_share_pool references data_pool (id),
  organisation_id uuid not null constraint data_pool_share_organisation references organisation (id),
  role text not null constraint data_pool_share_role check (role in ('viewer', 'maintainer')),
  created_by uuid not null constraint data_pool_share_author references platform_user (id),
  created_at timestamptz(3) not null default now(),
  constraint data_pool_share_pkey primary key (pool_id, organisation_id)
);
create index data_pool_share_received on data_pool_share (organisation_id);

-- Applications whose starts may name the files of a data pool. Those of other organisations go with the share.
create table data_pool_grant (
  pool_id uuid not null constraint data_pool_grant_pool references data_pool (id),
  application_id uuid not null constraint data_pool_grant_application references application (id),
  access text not null constraint data_pool_grant_access check (access in ('read', 'write')),
  created_by uuid not null constraint data_pool_grant_author references platform_user (id),
  created_at timestamptz(3) not null default now(),
  constraint data_pool_grant_pkey primary key (pool_id, application_id)
);
create index data_pool_grant_received on data_pool_grant (application_id);
