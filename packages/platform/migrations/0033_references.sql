-- Whether an object is the text of one JSON object: asked once, when something wants to know. Null: not yet.
alter table object add column form text constraint object_form_known check (form in ('object', 'other'));
-- What it is instead, and at which byte.
alter table object add column form_detail text constraint object_form_detail check (form_detail is null or form = 'other');

-- Objects that executions read. Removed some time after the execution has ended.
create table execution_object (
  execution_id uuid not null,
  role text not null constraint execution_object_role check (role in ('data', 'params')),
  hash text not null constraint execution_object_object references object (hash),
  constraint execution_object_pkey primary key (execution_id, role)
);
create index execution_object_hash on execution_object (hash);
