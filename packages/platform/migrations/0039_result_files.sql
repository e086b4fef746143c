-- Files that are results of executions: a job's by the user who started it, others by their application, which is no user.
alter table pool_file alter column created_by drop not null;
alter table pool_file add column application_id uuid constraint pool_file_application references application (id);
alter table pool_file add constraint pool_file_creator check (num_nonnulls(created_by, application_id) = 1);
