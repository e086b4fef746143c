-- What a service shows of itself to those who may subscribe.

create table listing (
  service_key uuid primary key constraint listing_service references service (key),
  title text not null,
  summary text not null,
  tags text[] not null,
  -- An address of mail or of the web; null: none is shown.
  contact text,
  -- A data URL; null: none.
  icon text,
  -- {"data": ..., "params": ...}; null: none.
  example_input jsonb,
  changed_at timestamptz(3) not null default now()
);

-- For the search: the longest descriptions have 256 KB, and their first pages say what a service is for. Words are not stemmed,
-- since descriptions are in any language.
alter table version add column search tsvector generated always as (to_tsvector('simple', left(description, 10000))) stored;
