-- Lists of the executions of an organisation begin with its subscriptions, also those that were ended or whose application was deleted:
-- their executions can be read for as long as they are kept.
create index application_of_organisation on application (organisation_id, id);
create index subscription_of_application on subscription (application_id, service_key);
-- Whether the provider of the service may read the logs of what the application starts. The subscriber decides.
alter table subscription add column shares_logs boolean not null default false;
