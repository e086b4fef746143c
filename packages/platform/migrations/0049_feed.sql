-- While this waits for a lock, every statement on executions waits behind it. It is tried again.
set local lock_timeout = '3s';

-- The durable feed (store/feed/). A change of state writes a row into feed_new in its own transaction; the sequencer moves what is committed
-- to feed_event, where each has its position.

-- Committed changes without a position: a few, for a moment. The ids of one execution's changes are in their order, since each is given while
-- the row of the execution is locked; those of different executions may become visible in any order.
create table feed_new (
  id bigint generated always as identity primary key,
  execution_id uuid not null,
  owner_kind text not null,
  owner_id uuid not null,
  organisation_id uuid not null,
  version_id uuid not null,
  status text not null,
  -- Why it did not succeed.
  code text,
  at timestamptz(3) not null default now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- What readers see, in the order of `position`: a position that is visible is never followed by one before it. Kept for seven days.
create table feed_event (
  position bigint primary key,
  at timestamptz(3) not null,
  execution_id uuid not null,
  status text not null,
  code text,
  service_key uuid not null,
  -- MAJOR.MINOR.PATCH.
  version text not null,
  -- Null, as the next: a job.
  subscription_id uuid,
  application_id uuid,
  -- Whose execution it is.
  organisation_id uuid not null,
  -- Whose service it is.
  provider_id uuid not null
);
create index feed_event_application on feed_event (application_id, position) where application_id is not null;
create index feed_event_organisation on feed_event (organisation_id, position);
create index feed_event_provider on feed_event (provider_id, position) where provider_id <> organisation_id;

-- `sequenced`: the last position that was given. `removed`: the last that was removed.
create table feed_mark (
  name text primary key check (name in ('sequenced', 'removed')),
  position bigint not null
);
insert into feed_mark (name, position) values ('sequenced', 0), ('removed', 0);
