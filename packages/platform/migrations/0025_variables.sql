-- Variables of services and of organisations: secrets, and those whose value can be read.
alter table secret rename to variable;
alter table variable rename constraint secret_organisation to variable_organisation;
alter table variable rename constraint secret_author to variable_author;
alter table variable rename constraint secret_pkey to variable_pkey;
alter table variable alter column key_id drop not null;
-- Of a variable that is no secret; null: it is one, or was deleted.
alter table variable add column value text;
alter table variable add constraint variable_one_kind check (sealed is null or value is null);
