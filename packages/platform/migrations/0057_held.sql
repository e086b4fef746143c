-- An execution that is PENDING waits in the queue, or is held: no worker can claim it until a round releases it (store/executions/release.ts).

-- While this waits for a lock, every statement on executions waits behind it. It is tried again.
set local lock_timeout = '3s';

-- Why it is not in the queue; null: it is. Means something only while it is PENDING.
alter table execution add column held text;
-- When it could begin, as its start has asked; null: when it was created.
alter table execution add column start_at timestamptz(3);

-- What is held is in neither: a claim walks the queue, and whoever starts something looks for the end of the owner's line in it.
drop index execution_queue;
create index execution_queue on execution (priority desc, rank, id) where status = 'PENDING' and held is null;
drop index execution_line;
create index execution_line on execution (owner_id, priority, rank) where status = 'PENDING' and held is null;
-- What is due next, and how much each owner has. Other executions are in no index more than before.
create index execution_held on execution (held, start_at, owner_id) where status = 'PENDING' and held is not null;
