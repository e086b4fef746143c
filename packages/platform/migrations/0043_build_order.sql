-- The order in which builds were requested. Ids are of the clocks of the hosts that took them, which differ.
alter table build add column position bigint;
update build b set position = ordered.position
  from (select id, row_number() over (order by created_at, id) as position from build) ordered where ordered.id = b.id;
alter table build alter column position set not null, alter column position add generated always as identity;
select setval(pg_get_serial_sequence('build', 'position'), (select coalesce(max(position), 0) + 1 from build), false);

drop index build_queue;
drop index build_version;
create index build_queue on build (position) where status in ('PENDING', 'RUNNING');
create index build_version on build (service_key, major, minor, patch, position);
