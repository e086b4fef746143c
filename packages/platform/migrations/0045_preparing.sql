-- While this waits for a lock, every statement on executions waits behind it. It is tried again.
set local lock_timeout = '3s';

-- The attempt whose worker still fetches what the execution reads: user code has not begun, and does not before this is taken back. Null: it may
-- have begun. It names the attempt, so that a claim that knows nothing of it, of a process of a former release, makes it void.
alter table execution add column preparing_attempt integer;
