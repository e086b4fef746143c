-- What a project takes on the disk (archive and unpacked), for the quota of its organisation; and who names an archive,
-- for the collector of objects that nobody names.

alter table version add column stored_bytes bigint not null default 0;
alter table build add column stored_bytes bigint not null default 0;

create index version_archive on version (archive_hash);
create index build_archive on build (archive_hash) where state in ('PENDING', 'RUNNING');
