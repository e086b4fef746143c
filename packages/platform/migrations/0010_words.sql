-- One word for one thing, the one that the wire has: `status` (was `state`), `ended_at` (was `finished_at`); and a name that
-- says what the column holds: thousandths of a GB (of 1024^3 bytes), as `cpu_milli` holds thousandths of a vCPU.

alter table execution rename column state to status;
alter table execution rename column finished_at to ended_at;
alter table execution rename column memory_mb to memory_milli;
alter table execution rename constraint execution_state_consistent to execution_status_consistent;
alter table execution rename constraint execution_failure_told to execution_failure_consistent;
alter index execution_owner_state rename to execution_owner_status;

alter table build rename column state to status;
alter table build rename column finished_at to ended_at;
alter table build rename constraint build_state_known to build_status_known;
alter table build rename constraint build_finished_told to build_ended_consistent;
alter table build rename constraint build_failure_told to build_failure_consistent;

alter table version rename column memory_mb to memory_milli;
alter table worker rename column memory_mb to memory_milli;
