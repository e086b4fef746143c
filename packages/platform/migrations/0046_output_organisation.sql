-- Whose results these are: what they take together is bounded for each organisation. Null: of a process of a former release.
alter table execution_output add column organisation_id uuid;
update execution_output o set organisation_id = coalesce(
    (select a.organisation_id from subscription b join application a on a.id = b.application_id where b.id = e.owner_id), e.owner_id)
  from (select id, owner_id from execution union all select id, owner_id from kept_execution) e where e.id = o.execution_id;
create index execution_output_organisation on execution_output (organisation_id) include (bytes);
