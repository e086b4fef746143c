-- Who has asked for a run of a schedule: it has their rights, and no others.

-- While this waits for a lock, whatever concerns users waits behind it. It is tried again.
set local lock_timeout = '3s';

alter table schedule_run
  -- Null: it was due.
  add column asked_by uuid constraint schedule_run_asker references platform_user (id),
  -- Whether the token or session that has asked could change what the organisation has.
  add column may_edit boolean,
  add constraint schedule_run_asked check ((asked_by is null) = (may_edit is null));
