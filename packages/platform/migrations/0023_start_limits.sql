-- How many starts an application or a subscription may still make: a bucket of tokens that is refilled by time, from which gateways
-- reserve several at once. Without a log: after a crash of the server all buckets are full, and a reservation costs no flush.
create unlogged table start_bucket (
  -- `application:<id>` or `subscription:<id>`. A subject without a row has a full bucket.
  subject text primary key,
  -- Tokens at `at`; below zero where starts were let through before they were counted.
  level double precision not null,
  -- What the last reservation got.
  granted integer not null,
  at timestamptz not null
);

create index start_bucket_old on start_bucket (at);
