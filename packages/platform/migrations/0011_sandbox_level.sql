-- The level of isolation (A to D) of the worker that runs an execution, or ran it. Null while it waits, and for executions that
-- began before this column existed. Without a default, so no row is rewritten.

alter table execution add column sandbox_level text;
