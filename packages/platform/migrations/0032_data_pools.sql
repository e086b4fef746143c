-- Data pools, and the files in them.
create table data_pool (
  id uuid primary key,
  organisation_id uuid not null constraint data_pool_organisation references organisation (id),
  name text not null,
  -- The name without case: unique in the organisation.
  name_key text not null,
  description text not null default '',
  created_by uuid not null constraint data_pool_author references platform_user (id),
  created_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3)
);
create unique index data_pool_name on data_pool (organisation_id, name_key) where deleted_at is null;

-- A file is one content under one name: another content is another file, in the same place.
create table pool_file (
  id uuid primary key,
  pool_id uuid not null constraint pool_file_pool references data_pool (id),
  -- Of the pool, for its quota.
  organisation_id uuid not null,
  -- The place in the pool: stays when the file is renamed or replaced.
  descriptor_id uuid not null,
  name text not null,
  name_key text not null,
  media_type text not null,
  hash text not null constraint pool_file_object references object (hash),
  bytes bigint not null constraint pool_file_bytes check (bytes >= 0),
  created_by uuid not null constraint pool_file_author references platform_user (id),
  created_at timestamptz(3) not null default now(),
  -- Deleted or replaced, or its pool was deleted.
  ended_at timestamptz(3)
);
create unique index pool_file_name on pool_file (pool_id, name_key) where ended_at is null;
create index pool_file_hash on pool_file (hash);
create index pool_file_stored on pool_file (organisation_id) include (bytes) where ended_at is null;
create index pool_file_ended on pool_file (ended_at) where ended_at is not null;
