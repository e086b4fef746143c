-- An execution that its worker could not start goes back into the queue: how often it did, and when it may be claimed again.

alter table execution
  add column setbacks smallint not null default 0,
  add column not_before timestamptz;
