-- While this waits for a lock, every statement on results waits behind it. It is tried again.
set local lock_timeout = '3s';

-- What executions returned that is too large for a row, by content: an object stays for as long as its row.
create table execution_output (
  execution_id uuid not null,
  -- Empty: the result itself.
  name text not null,
  hash text not null constraint execution_output_object check (hash ~ '^[0-9a-f]{64}$'),
  bytes bigint not null constraint execution_output_bytes check (bytes >= 0),
  constraint execution_output_pkey primary key (execution_id, name)
);
create index execution_output_hash on execution_output (hash);

-- Whether there are such rows: results without any are read without looking for them.
alter table execution_result add column has_output boolean not null default false;
