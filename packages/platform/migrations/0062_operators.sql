-- Lists of users and organisations for operators of the platform, newest first.
create index platform_user_newest on platform_user (created_at desc, id desc);
create index organisation_newest on organisation (created_at desc, id desc) where deleted_at is null;

-- An operator changes something of the platform as a whole, or somebody does with the server's command line: then without an id.
alter table audit_entry drop constraint audit_entry_actor_known;
alter table audit_entry add constraint audit_entry_actor_known
  check (actor_kind in ('user', 'claimed', 'application', 'operator'));
