-- What happened in each minute, for operators of the platform: written once a minute from the feed, and removed after eight days.
create table instance_minute (
  minute timestamptz(0) primary key,
  -- Waiting in the queue, and running, when it was measured; null: nobody has.
  pending integer,
  running integer,
  started integer not null default 0,
  finished integer not null default 0,
  -- How often each length: number of the length (store/instance/lengths.ts) -> count. Of the wait before a start, and of what ran.
  waits jsonb not null default '{}',
  runs jsonb not null default '{}'
);

-- The last position of the feed that is in instance_minute; one row.
create table instance_mark (
  name text primary key check (name = 'series'),
  position bigint not null
);
insert into instance_mark (name, position) select 'series', position from feed_mark where name = 'sequenced';
