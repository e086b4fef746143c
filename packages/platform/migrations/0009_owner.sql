-- Ids of organisations are uuid and name an organisation, and our own columns spell the word as everything of ours does;
-- the library's tables (0003_identity.sql) keep the library's names.

alter table service rename column organization_id to organisation_id;
alter index service_organization rename to service_organisation;
alter table service
  alter column organisation_id type uuid using organisation_id::uuid,
  add constraint service_organisation foreign key (organisation_id) references "organization" ("id");

alter table application rename column organization_id to organisation_id;
alter index application_organization rename to application_organisation;
alter table application
  alter column organisation_id type uuid using organisation_id::uuid,
  add constraint application_organisation foreign key (organisation_id) references "organization" ("id");

-- Who owns an execution, in full: a subscription and the organisation of its application, or (a job) an organisation itself.
-- No foreign keys: they would cost every start a look into other tables, and an owner is never deleted.

alter table execution
  add column owner_kind text,
  add column organisation_id uuid;

update execution e set owner_kind = 'subscription', organisation_id = a.organisation_id
  from subscription s join application a on a.id = s.application_id where s.id = e.owner_id;
update execution set owner_kind = 'organisation', organisation_id = owner_id where owner_kind is null;

alter table execution
  alter column owner_kind set not null,
  alter column organisation_id set not null,
  add constraint execution_owner_consistent check (
    case owner_kind when 'subscription' then true when 'organisation' then organisation_id = owner_id else false end
  );
