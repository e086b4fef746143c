-- What is stored as an object. A row is there before its content, and goes after it.
create table object (
  hash text primary key constraint object_hash check (hash ~ '^[0-9a-f]{64}$'),
  -- Null: it was stored before there were rows.
  bytes bigint constraint object_bytes check (bytes >= 0),
  -- The last time.
  kept_at timestamptz(3) not null default now(),
  -- Until then nobody may keep it again: its content is being removed, and the store may do so late.
  removing_until timestamptz(3)
);
create index object_kept on object (kept_at);

insert into object (hash)
  select archive_hash from version where archive_hash ~ '^[0-9a-f]{64}$'
  union select archive_hash from build where archive_hash ~ '^[0-9a-f]{64}$';
