-- Executions with a deadline of their start: what is PENDING then ends, and is claimed no more (store/executions/expire.ts).

-- While this waits for a lock, every statement on executions waits behind it. It is tried again.
set local lock_timeout = '3s';

-- When it must have begun; null: whenever it can. Means something only before its first attempt.
alter table execution add column start_by timestamptz(3);

-- Which deadline is the next. Other executions are in no index more than before.
create index execution_start_by on execution (start_by) where status = 'PENDING' and start_by is not null and retried = 0;
