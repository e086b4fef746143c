-- For how long a service keeps executions: days after their end. Null: as the operator sets for all. What an execution was started with stays
-- with it: who was told until when its result can be fetched, can rely on it.

-- While this waits for a lock, every statement on executions waits behind it. It is tried again.
set local lock_timeout = '3s';

-- Without a check, which would read every row under the lock.
alter table execution add column result_days smallint, add column log_days smallint;

alter table service add column result_days smallint constraint service_result_days_positive check (result_days > 0);
alter table service add column log_days smallint constraint service_log_days_positive check (log_days > 0);
