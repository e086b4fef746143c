-- Results and logs that services keep for a shorter time than the platform are removed when they have expired, before their day is dropped.

-- While this waits for a lock, every statement on executions waits behind it. It is tried again.
set local lock_timeout = '3s';

-- What was kept for so many days after the end is removed. Null: nothing is.
alter table execution add column removed_days smallint;

-- What is removed next (store/executions/remove-early.ts has the same expression): only executions whose service keeps them for a time of its own.
-- No change of the state changes these columns.
create index execution_next_removal on execution (
  (case when removed_days is null then least(result_days, log_days) when removed_days < result_days then result_days end)
) where case when removed_days is null then least(result_days, log_days) when removed_days < result_days then result_days end is not null;
