-- How executions of a service are run: the newest revision holds for what is started from then on.
create table service_policy (
  service_key uuid not null constraint service_policy_service references service (key),
  revision integer not null constraint service_policy_revision check (revision > 0),
  policy jsonb not null,
  created_by uuid not null constraint service_policy_user references platform_user (id),
  created_at timestamptz(3) not null default now(),
  primary key (service_key, revision)
);
