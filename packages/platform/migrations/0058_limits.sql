-- Executions of a service with limits: held until there is a place for them (store/executions/limited.ts).

-- While this waits for a lock, every statement on executions waits behind it. It is tried again.
set local lock_timeout = '3s';

-- The service, where it had limits when the execution was started; null: it is subject to none.
alter table execution add column limit_key uuid;

-- Who waits for a place, by service and owner, and the places that are taken. Other executions are in neither.
create index execution_limit_line on execution (limit_key, owner_id, id) where status = 'PENDING' and held = 'LIMIT';
create index execution_limit_places on execution (limit_key, owner_id)
  where limit_key is not null and held is null and status in ('PENDING', 'RUNNING');
