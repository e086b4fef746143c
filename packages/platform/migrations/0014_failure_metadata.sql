-- What is known of the run of an execution that failed: {"_usage": {...}}, what it used. Null: nothing, like every execution from before this
-- column existed. In the row itself, since its state and failure are read together. Without a default, so no row is rewritten.

alter table execution add column failure_metadata jsonb;
