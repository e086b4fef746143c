-- A listing is replaced only by who has read it as it is (store/listings.ts).
set local lock_timeout = '3s';

-- Counts from 1.
alter table listing add column revision integer not null default 1;
