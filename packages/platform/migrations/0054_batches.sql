-- Executions that were started together. Kept until none of them is left.
create table execution_batch (
  id uuid constraint execution_batch_pkey primary key,
  owner_id uuid not null,
  -- What the executions are called: decided before any of them was started.
  item_ids uuid[] not null,
  -- JSON; null: it is being started, or whoever did was cut off. As text, since a detail can have characters that jsonb refuses.
  refusals text,
  is_cancelled boolean not null default false,
  -- Who starts its executions, and until when nobody else does.
  holder uuid not null,
  held_until timestamptz not null,
  created_at timestamptz(3) not null default now(),
  -- It is looked at when this is past by as much as executions are kept.
  due_at timestamptz not null default now()
);
create index execution_batch_due on execution_batch (due_at);
