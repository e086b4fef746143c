-- PostgreSQL compresses what is larger than 2 KB while the caller waits, by pglz, at some 10 MB a second beside other work. Rows of before stay as they
-- are. Partitions that exist change with their table.
alter table execution_input alter column body set storage external;
alter table execution_result alter column result set storage external;
alter table kept_result alter column result set storage external;
