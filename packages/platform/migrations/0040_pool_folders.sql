-- Also the files of data pools that an execution reads as folders: any number in one role. Equal content is named once.
alter table execution_object drop constraint execution_object_role;
alter table execution_object add constraint execution_object_role check (role in ('data', 'params', 'pool'));
alter table execution_object drop constraint execution_object_pkey;
alter table execution_object add constraint execution_object_pkey primary key (execution_id, role, hash);
