-- The Markdown of a listing, in place of the latest version's (store/listings.ts). A service has one listing at most, so the rewrite is short.
set local lock_timeout = '3s';

alter table listing
  -- Null: that of the latest version is shown.
  add column description text,
  -- For the search, as version.search.
  add column search tsvector generated always as (to_tsvector('simple', left(description, 10000))) stored;
