-- While this waits for a lock, every statement on executions waits behind it. It is tried again.
set local lock_timeout = '3s';

-- What a running execution of an external backend has begun elsewhere, such as the id of a vendor's job: the next attempt takes it up. Null: nothing is
-- kept.
alter table execution add column handle text
  constraint execution_handle_size check (octet_length(handle) between 1 and 4096);
