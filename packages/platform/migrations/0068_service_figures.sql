-- What a provider lets the marketplace show of how a service runs for others (store/service-figures.ts).
set local lock_timeout = '3s';

alter table listing add column shares_figures boolean not null default false;

-- What became of executions that other organisations have started, by the day (UTC) of their end: written once a minute from the feed, beside
-- instance_minute, and removed after 40 days.
create table service_day (
  service_key uuid not null,
  day date not null,
  succeeded integer not null,
  failed integer not null,
  -- How often each length of those that succeeded: number of the length (store/instance/lengths.ts) -> count.
  runs jsonb not null,
  constraint service_day_pkey primary key (service_key, day)
);
