-- Fair share between owners (store/executions/create.ts says how): `rank` is an execution's place in the queue of its
-- priority, given when it is created, so that a claim stays one walk of one index.

alter table execution add column rank bigint not null default 0;

drop index execution_queue;
create index execution_queue on execution (priority desc, rank, id) where state = 'PENDING';

-- Where an owner's line ends, and how far the queue has been served. Like the leases', the latter's condition does not name
-- the state: a statement with `id = ... and state = 'RUNNING'` is never planned as a walk through it.
create index execution_line on execution (owner_id, priority, rank) where state = 'PENDING';
create index execution_served on execution (priority, rank) where lease_until is not null;
