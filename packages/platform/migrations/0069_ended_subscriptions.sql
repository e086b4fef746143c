-- A subscription that the provider of its service has ended (store/end-subscription.ts): it starts nothing, and what it has started stays readable
-- until its own organisation cancels it. Subscriptions are read by each start that is not answered from memory; the columns are added without
-- writing any row, and the check has nothing to look at but nulls.
set local lock_timeout = '3s';

alter table subscription
  add column ended_at timestamptz(3),
  -- Of the provider, for the subscriber.
  add column end_reason text,
  add constraint subscription_end_consistent check ((ended_at is null) = (end_reason is null));
