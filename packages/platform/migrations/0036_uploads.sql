-- Uploads of files of data pools that can be resumed. What has arrived lies in files of the data directory.
create table pool_upload (
  id uuid primary key,
  organisation_id uuid not null constraint pool_upload_organisation references organisation (id),
  pool_id uuid not null constraint pool_upload_pool references data_pool (id),
  -- Of the pool, for its quota: the pool may be shared with the organisation that uploads.
  owner_id uuid not null,
  created_by uuid not null constraint pool_upload_author references platform_user (id),
  name text not null,
  media_type text not null,
  -- As the client sent them: it is told them again.
  metadata text not null,
  -- Of the whole content.
  bytes bigint not null constraint pool_upload_bytes check (bytes >= 0),
  -- What the content has to have; null: nothing was said.
  sha256 text constraint pool_upload_sha256 check (sha256 ~ '^[0-9a-f]{64}$'),
  -- What has arrived and lasts.
  received bigint not null default 0 constraint pool_upload_received check (received between 0 and bytes),
  -- SHA-256 of the whole content, once it is known.
  hash text constraint pool_upload_hash check (hash ~ '^[0-9a-f]{64}$'),
  -- The folder with the parts: another machine has another one.
  place uuid not null,
  -- [{"file": ..., "start": ...}, ...] in their order: a part ends where the next one starts.
  parts jsonb not null default '[]',
  -- The request that writes; null: none, and the last one has closed its part.
  writer uuid,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  -- What it became. The row stays for some time: the client may have lost the answer.
  file_id uuid,
  stored_at timestamptz(3)
);
create index pool_upload_open on pool_upload (organisation_id, expires_at) where stored_at is null;
create index pool_upload_promised on pool_upload (owner_id) include (bytes, expires_at) where stored_at is null;
create index pool_upload_expires on pool_upload (expires_at);
