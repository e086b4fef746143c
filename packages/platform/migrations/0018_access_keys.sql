-- Access keys have a name and may end by themselves; a key is rotated by another one that replaces it, while it goes on for a while.

alter table access_key
  add column name text not null default '',
  -- Null: never.
  add column expires_at timestamptz(3),
  -- The key that it was rotated to; a key is rotated once.
  add column replaced_by text constraint access_key_replaced references access_key (id);
