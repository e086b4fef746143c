-- Written by `npm run gen` from the migrations; do not edit.
-- Daily partitions are left out.

create table access_key (
  id text not null,
  application_id uuid not null,
  secret_hash text not null,
  created_at timestamp(3) with time zone not null default now(),
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  name text not null default ''::text,
  expires_at timestamp(3) with time zone,
  replaced_by text,
  constraint access_key_application FOREIGN KEY (application_id) REFERENCES application(id),
  constraint access_key_replaced FOREIGN KEY (replaced_by) REFERENCES access_key(id),
  constraint access_key_pkey PRIMARY KEY (id)
);
CREATE INDEX access_key_application_newest ON public.access_key USING btree (application_id, created_at, id);
CREATE INDEX access_key_replaced ON public.access_key USING btree (replaced_by) WHERE (replaced_by IS NOT NULL);

create table application (
  id uuid not null,
  organisation_id uuid not null,
  name text not null,
  created_by text not null,
  created_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint application_organisation FOREIGN KEY (organisation_id) REFERENCES organisation(id),
  constraint application_pkey PRIMARY KEY (id)
);
CREATE INDEX application_of_organisation ON public.application USING btree (organisation_id, id);
CREATE INDEX application_organisation ON public.application USING btree (organisation_id, id) WHERE (deleted_at IS NULL);

create table audit_chain (
  organisation_id uuid not null,
  sequence bigint not null,
  hash bytea not null,
  constraint audit_chain_pkey PRIMARY KEY (organisation_id)
);

create table audit_entry (
  organisation_id uuid not null,
  sequence bigint not null,
  at timestamp(3) with time zone not null,
  actor_kind text not null,
  actor_id uuid,
  actor_name text not null,
  credential text,
  action text not null,
  target text,
  outcome text not null,
  code text,
  ip text not null,
  changes text not null,
  hash bytea not null,
  constraint audit_entry_actor_known CHECK ((actor_kind = ANY (ARRAY['user'::text, 'claimed'::text, 'application'::text, 'operator'::text]))),
  constraint audit_entry_outcome_known CHECK ((outcome = ANY (ARRAY['done'::text, 'refused'::text]))),
  constraint audit_entry_pkey PRIMARY KEY (organisation_id, sequence)
);

create table build (
  id uuid not null,
  service_key uuid not null,
  major integer not null,
  minor integer not null,
  patch integer not null,
  archive_hash text not null,
  content_hash text not null,
  is_forced boolean not null default false,
  requested_by text not null,
  status text not null default 'PENDING'::text,
  attempt integer not null default 0,
  worker_id text,
  lease_until timestamp with time zone,
  failure_code text,
  failure_detail text,
  created_at timestamp(3) with time zone not null default now(),
  started_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  stored_bytes bigint not null default 0,
  "position" bigint not null generated always as identity,
  constraint build_ended_consistent CHECK (((ended_at IS NOT NULL) = (status = ANY (ARRAY['SUCCEEDED'::text, 'FAILED'::text])))),
  constraint build_failure_consistent CHECK (((failure_code IS NOT NULL) = (status = 'FAILED'::text))),
  constraint build_status_known CHECK ((status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text, 'SUCCEEDED'::text, 'FAILED'::text]))),
  constraint build_service FOREIGN KEY (service_key) REFERENCES service(key),
  constraint build_pkey PRIMARY KEY (id)
);
CREATE INDEX build_archive ON public.build USING btree (archive_hash) WHERE (status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text]));
CREATE UNIQUE INDEX build_one_at_a_time ON public.build USING btree (service_key, major, minor, patch) WHERE (status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text]));
CREATE INDEX build_queue ON public.build USING btree ("position") WHERE (status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text]));
CREATE INDEX build_version ON public.build USING btree (service_key, major, minor, patch, "position");

create table build_log (
  build_id uuid not null,
  line integer not null,
  text text not null,
  constraint build_log_build FOREIGN KEY (build_id) REFERENCES build(id) ON DELETE CASCADE,
  constraint build_log_pkey PRIMARY KEY (build_id, line)
);

create table closed_day (
  kind text not null,
  from_id uuid not null,
  to_id uuid not null,
  days smallint not null,
  copied_at timestamp with time zone,
  removed_at timestamp with time zone,
  constraint closed_day_kind_known CHECK ((kind = ANY (ARRAY['logs'::text, 'executions'::text]))),
  constraint closed_day_pkey PRIMARY KEY (kind, from_id)
);

create table data_pool (
  id uuid not null,
  organisation_id uuid not null,
  name text not null,
  name_key text not null,
  description text not null default ''::text,
  created_by uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint data_pool_author FOREIGN KEY (created_by) REFERENCES platform_user(id),
  constraint data_pool_organisation FOREIGN KEY (organisation_id) REFERENCES organisation(id),
  constraint data_pool_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX data_pool_name ON public.data_pool USING btree (organisation_id, name_key) WHERE (deleted_at IS NULL);

create table data_pool_grant (
  pool_id uuid not null,
  application_id uuid not null,
  access text not null,
  created_by uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint data_pool_grant_access CHECK ((access = ANY (ARRAY['read'::text, 'write'::text]))),
  constraint data_pool_grant_application FOREIGN KEY (application_id) REFERENCES application(id),
  constraint data_pool_grant_author FOREIGN KEY (created_by) REFERENCES platform_user(id),
  constraint data_pool_grant_pool FOREIGN KEY (pool_id) REFERENCES data_pool(id),
  constraint data_pool_grant_pkey PRIMARY KEY (pool_id, application_id)
);
CREATE INDEX data_pool_grant_received ON public.data_pool_grant USING btree (application_id);

create table data_pool_share (
  pool_id uuid not null,
  organisation_id uuid not null,
  role text not null,
  created_by uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint data_pool_share_role CHECK ((role = ANY (ARRAY['viewer'::text, 'maintainer'::text]))),
  constraint data_pool_share_author FOREIGN KEY (created_by) REFERENCES platform_user(id),
  constraint data_pool_share_organisation FOREIGN KEY (organisation_id) REFERENCES organisation(id),
  constraint data_pool_share_pool FOREIGN KEY (pool_id) REFERENCES data_pool(id),
  constraint data_pool_share_pkey PRIMARY KEY (pool_id, organisation_id)
);
CREATE INDEX data_pool_share_received ON public.data_pool_share USING btree (organisation_id);

create table device_login (
  id uuid not null,
  device_code_hash text not null,
  user_code_hash text not null,
  client_name text not null,
  ip text not null,
  scopes text[] not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  interval_seconds integer not null,
  asked_at timestamp(3) with time zone,
  user_id uuid,
  ticket_hash text,
  decision text,
  redeemed_at timestamp(3) with time zone,
  constraint device_login_decision_known CHECK ((decision = ANY (ARRAY['approved'::text, 'denied'::text]))),
  constraint device_login_user FOREIGN KEY (user_id) REFERENCES platform_user(id),
  constraint device_login_pkey PRIMARY KEY (id),
  constraint device_login_device_code UNIQUE (device_code_hash),
  constraint device_login_ticket UNIQUE (ticket_hash),
  constraint device_login_user_code UNIQUE (user_code_hash)
);
CREATE INDEX device_login_old ON public.device_login USING btree (expires_at);
CREATE INDEX device_login_user ON public.device_login USING btree (user_id);

create table execution (
  id uuid not null,
  owner_id uuid not null,
  version_id uuid not null,
  status text not null default 'PENDING'::text,
  priority smallint not null default 0,
  cpu_milli integer not null,
  memory_milli integer not null,
  timeout_seconds integer not null,
  attempt integer not null default 0,
  worker_id text,
  claim_id uuid,
  lease_until timestamp with time zone,
  cancel_requested boolean not null default false,
  created_at timestamp(3) with time zone not null default now(),
  started_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  failure_code text,
  failure_detail text,
  setbacks smallint not null default 0,
  not_before timestamp with time zone,
  rank bigint not null default 0,
  owner_kind text not null,
  organisation_id uuid not null,
  sandbox_level text,
  failure_metadata jsonb,
  quota_month date,
  cpu_micros bigint,
  cpu_held bigint,
  result_days smallint,
  log_days smallint,
  removed_days smallint,
  preparing_attempt integer,
  retries jsonb,
  retried smallint not null default 0,
  held text,
  start_at timestamp(3) with time zone,
  limit_key uuid,
  start_by timestamp(3) with time zone,
  session_id uuid,
  handle text,
  constraint execution_failure_consistent CHECK (((failure_code IS NOT NULL) = (status = ANY (ARRAY['FAILED'::text, 'UNKNOWN'::text])))),
  constraint execution_handle_size CHECK (((octet_length(handle) >= 1) AND (octet_length(handle) <= 4096))),
  constraint execution_lease_while_running CHECK (((lease_until IS NOT NULL) = (status = 'RUNNING'::text))),
  constraint execution_owner_consistent CHECK (
CASE owner_kind
    WHEN 'subscription'::text THEN true
    WHEN 'organisation'::text THEN (organisation_id = owner_id)
    ELSE false
END),
  constraint execution_resources_positive CHECK (((cpu_milli > 0) AND (memory_milli > 0) AND (timeout_seconds > 0))),
  constraint execution_retried_known CHECK (((retried = 0) OR ((retries IS NOT NULL) AND ((retried >= 1) AND (retried <= 9))))),
  constraint execution_status_consistent CHECK (
CASE status
    WHEN 'PENDING'::text THEN ((worker_id IS NULL) AND (started_at IS NULL) AND (ended_at IS NULL))
    WHEN 'RUNNING'::text THEN ((worker_id IS NOT NULL) AND (started_at IS NOT NULL) AND (ended_at IS NULL))
    WHEN 'SUCCEEDED'::text THEN ((worker_id IS NOT NULL) AND (started_at IS NOT NULL) AND (ended_at IS NOT NULL))
    WHEN 'FAILED'::text THEN (ended_at IS NOT NULL)
    WHEN 'UNKNOWN'::text THEN ((worker_id IS NOT NULL) AND (started_at IS NOT NULL) AND (ended_at IS NOT NULL))
    ELSE false
END),
  constraint execution_pkey PRIMARY KEY (id)
) partition by RANGE (id);
CREATE INDEX execution_held ON ONLY public.execution USING btree (held, start_at, owner_id) WHERE ((status = 'PENDING'::text) AND (held IS NOT NULL));
CREATE INDEX execution_lease ON ONLY public.execution USING btree (lease_until) WHERE (lease_until IS NOT NULL);
CREATE INDEX execution_limit_line ON ONLY public.execution USING btree (limit_key, owner_id, id) WHERE ((status = 'PENDING'::text) AND (held = 'LIMIT'::text));
CREATE INDEX execution_limit_places ON ONLY public.execution USING btree (limit_key, owner_id) WHERE ((limit_key IS NOT NULL) AND (held IS NULL) AND (status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text])));
CREATE INDEX execution_line ON ONLY public.execution USING btree (owner_id, priority, rank) WHERE ((status = 'PENDING'::text) AND (held IS NULL));
CREATE INDEX execution_next_removal ON ONLY public.execution USING btree ((
CASE
    WHEN (removed_days IS NULL) THEN LEAST(result_days, log_days)
    WHEN (removed_days < result_days) THEN result_days
    ELSE NULL::smallint
END)) WHERE (
CASE
    WHEN (removed_days IS NULL) THEN LEAST(result_days, log_days)
    WHEN (removed_days < result_days) THEN result_days
    ELSE NULL::smallint
END IS NOT NULL);
CREATE INDEX execution_owner_status ON ONLY public.execution USING btree (owner_id, status, id);
CREATE INDEX execution_quantum ON ONLY public.execution USING btree (owner_id, id DESC) WHERE (priority = 2);
CREATE INDEX execution_queue ON ONLY public.execution USING btree (priority DESC, rank, id) WHERE ((status = 'PENDING'::text) AND (held IS NULL));
CREATE INDEX execution_served ON ONLY public.execution USING btree (priority, rank) WHERE (lease_until IS NOT NULL);
CREATE INDEX execution_session ON ONLY public.execution USING btree (session_id, id) WHERE (session_id IS NOT NULL);
CREATE INDEX execution_session_line ON ONLY public.execution USING btree (owner_id, rank) WHERE ((status = 'PENDING'::text) AND (held IS NULL) AND (session_id IS NOT NULL));
CREATE INDEX execution_session_open ON ONLY public.execution USING btree (session_id) WHERE ((session_id IS NOT NULL) AND (ended_at IS NULL));
CREATE INDEX execution_start_by ON ONLY public.execution USING btree (start_by) WHERE ((status = 'PENDING'::text) AND (start_by IS NOT NULL) AND (retried = 0));

create table execution_attempt (
  execution_id uuid not null,
  number smallint not null,
  attempt integer not null,
  worker_id text not null,
  started_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone not null,
  code text not null,
  detail text not null,
  cpu_micros bigint,
  constraint execution_attempt_number CHECK (((number >= 1) AND (number <= 9))),
  constraint execution_attempt_pkey PRIMARY KEY (execution_id, number)
);

create table execution_batch (
  id uuid not null,
  owner_id uuid not null,
  item_ids uuid[] not null,
  refusals text,
  is_cancelled boolean not null default false,
  holder uuid not null,
  held_until timestamp with time zone not null,
  created_at timestamp(3) with time zone not null default now(),
  due_at timestamp with time zone not null default now(),
  constraint execution_batch_pkey PRIMARY KEY (id)
);
CREATE INDEX execution_batch_due ON public.execution_batch USING btree (due_at);

create table execution_default partition of execution DEFAULT;

create table execution_input (
  id uuid not null,
  body bytea storage external not null,
  "references" jsonb,
  constraint execution_input_pkey PRIMARY KEY (id)
) partition by RANGE (id);
CREATE INDEX execution_input_cache_key ON ONLY public.execution_input USING btree (((("references" -> 'annotation'::text) ->> 'cacheKey'::text))) WHERE ((("references" -> 'annotation'::text) ->> 'cacheKey'::text) IS NOT NULL);

create table execution_input_default partition of execution_input DEFAULT;

create table execution_log (
  id uuid not null,
  seq bigint not null,
  lines bytea not null,
  constraint execution_log_pkey PRIMARY KEY (id, seq)
) partition by RANGE (id);

create table execution_log_default partition of execution_log DEFAULT;

create table execution_object (
  execution_id uuid not null,
  role text not null,
  hash text not null,
  constraint execution_object_role CHECK ((role = ANY (ARRAY['data'::text, 'params'::text, 'pool'::text]))),
  constraint execution_object_object FOREIGN KEY (hash) REFERENCES object(hash),
  constraint execution_object_pkey PRIMARY KEY (execution_id, role, hash)
);
CREATE INDEX execution_object_hash ON public.execution_object USING btree (hash);

create table execution_output (
  execution_id uuid not null,
  name text not null,
  hash text not null,
  bytes bigint not null,
  organisation_id uuid,
  constraint execution_output_bytes CHECK ((bytes >= 0)),
  constraint execution_output_object CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
  constraint execution_output_pkey PRIMARY KEY (execution_id, name)
);
CREATE INDEX execution_output_hash ON public.execution_output USING btree (hash);
CREATE INDEX execution_output_organisation ON public.execution_output USING btree (organisation_id) INCLUDE (bytes);

create table execution_progress (
  execution_id uuid not null,
  attempt integer not null,
  fraction double precision,
  message text,
  reported_at timestamp with time zone not null,
  checkpoint bytea storage external,
  checkpoint_at timestamp with time zone,
  constraint execution_progress_fraction CHECK (((fraction >= (0)::double precision) AND (fraction <= (1)::double precision))),
  constraint execution_progress_pkey PRIMARY KEY (execution_id)
);

create table execution_result (
  id uuid not null,
  result bytea storage external not null,
  metadata bytea,
  has_output boolean not null default false,
  constraint execution_result_pkey PRIMARY KEY (id)
) partition by RANGE (id);

create table execution_result_default partition of execution_result DEFAULT;

create table external_login (
  issuer text not null,
  subject text not null,
  user_id uuid not null,
  constraint external_login_user FOREIGN KEY (user_id) REFERENCES platform_user(id),
  constraint external_login_pkey PRIMARY KEY (issuer, subject)
);
CREATE INDEX external_login_user ON public.external_login USING btree (user_id);

create table feed_event (
  "position" bigint not null,
  at timestamp(3) with time zone not null,
  execution_id uuid not null,
  status text not null,
  code text,
  service_key uuid not null,
  version text not null,
  subscription_id uuid,
  application_id uuid,
  organisation_id uuid not null,
  provider_id uuid not null,
  constraint feed_event_pkey PRIMARY KEY ("position")
);
CREATE INDEX feed_event_application ON public.feed_event USING btree (application_id, "position") WHERE (application_id IS NOT NULL);
CREATE INDEX feed_event_organisation ON public.feed_event USING btree (organisation_id, "position");
CREATE INDEX feed_event_provider ON public.feed_event USING btree (provider_id, "position") WHERE (provider_id <> organisation_id);

create table feed_mark (
  name text not null,
  "position" bigint not null,
  constraint feed_mark_name_check CHECK ((name = ANY (ARRAY['sequenced'::text, 'removed'::text]))),
  constraint feed_mark_pkey PRIMARY KEY (name)
);

create table feed_new (
  id bigint not null generated always as identity,
  execution_id uuid not null,
  owner_kind text not null,
  owner_id uuid not null,
  organisation_id uuid not null,
  version_id uuid not null,
  status text not null,
  code text,
  at timestamp(3) with time zone not null default now(),
  constraint feed_new_pkey PRIMARY KEY (id)
);

create table idempotency_key (
  owner_id uuid not null,
  key_hash uuid not null,
  request_hash uuid not null,
  execution_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_key_pkey PRIMARY KEY (owner_id, key_hash)
);
CREATE INDEX idempotency_key_created ON public.idempotency_key USING btree (created_at);

create table instance_mark (
  name text not null,
  "position" bigint not null,
  constraint instance_mark_name_check CHECK ((name = 'series'::text)),
  constraint instance_mark_pkey PRIMARY KEY (name)
);

create table instance_minute (
  minute timestamp(0) with time zone not null,
  pending integer,
  running integer,
  started integer not null default 0,
  finished integer not null default 0,
  waits jsonb not null default '{}'::jsonb,
  runs jsonb not null default '{}'::jsonb,
  constraint instance_minute_pkey PRIMARY KEY (minute)
);

create table invitation (
  id uuid not null,
  organisation_id uuid not null,
  email text,
  role text not null,
  token_hash text not null,
  invited_by uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  accepted_at timestamp(3) with time zone,
  accepted_by uuid,
  revoked_at timestamp(3) with time zone,
  declined_at timestamp(3) with time zone,
  constraint invitation_declined_closed CHECK (((declined_at IS NULL) OR ((revoked_at IS NOT NULL) AND (accepted_at IS NULL)))),
  constraint invitation_role_known CHECK ((role = ANY (ARRAY['owner'::text, 'maintainer'::text, 'viewer'::text]))),
  constraint invitation_guest FOREIGN KEY (accepted_by) REFERENCES platform_user(id),
  constraint invitation_inviter FOREIGN KEY (invited_by) REFERENCES platform_user(id),
  constraint invitation_organisation FOREIGN KEY (organisation_id) REFERENCES organisation(id),
  constraint invitation_pkey PRIMARY KEY (id),
  constraint invitation_token_hash UNIQUE (token_hash)
);
CREATE INDEX invitation_newest ON public.invitation USING btree (organisation_id, created_at, id);

create table kept_execution (
  id uuid not null,
  owner_id uuid not null,
  version_id uuid not null,
  status text not null,
  cpu_milli integer not null,
  memory_milli integer not null,
  created_at timestamp(3) with time zone not null,
  started_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone not null,
  sandbox_level text,
  failure_code text,
  failure_detail text,
  failure_metadata jsonb,
  result_days smallint not null,
  log_days smallint not null,
  expires_at timestamp with time zone not null,
  retried smallint not null default 0,
  constraint kept_execution_pkey PRIMARY KEY (id)
);
CREATE INDEX kept_execution_expiry ON public.kept_execution USING btree (expires_at);
CREATE INDEX kept_execution_owner_status ON public.kept_execution USING btree (owner_id, status, id);

create table kept_log (
  id uuid not null,
  seq bigint not null,
  lines bytea not null,
  expires_at timestamp with time zone not null,
  constraint kept_log_pkey PRIMARY KEY (id, seq)
);
CREATE INDEX kept_log_expiry ON public.kept_log USING btree (expires_at);

create table kept_result (
  id uuid not null,
  result bytea storage external not null,
  metadata bytea,
  has_output boolean not null default false,
  constraint kept_result_pkey PRIMARY KEY (id)
);

create table listing (
  service_key uuid not null,
  title text not null,
  summary text not null,
  tags text[] not null,
  contact text,
  icon text,
  example_input json,
  changed_at timestamp(3) with time zone not null default now(),
  description text,
  search tsvector generated always as (to_tsvector('simple'::regconfig, "left"(description, 10000))) stored,
  revision integer not null default 1,
  shares_figures boolean not null default false,
  constraint listing_service FOREIGN KEY (service_key) REFERENCES service(key),
  constraint listing_pkey PRIMARY KEY (service_key)
);

create table member (
  organisation_id uuid not null,
  user_id uuid not null,
  role text not null,
  joined_at timestamp(3) with time zone not null default now(),
  last_seen_at timestamp(3) with time zone,
  constraint member_role_known CHECK ((role = ANY (ARRAY['owner'::text, 'maintainer'::text, 'viewer'::text]))),
  constraint member_organisation FOREIGN KEY (organisation_id) REFERENCES organisation(id),
  constraint member_user FOREIGN KEY (user_id) REFERENCES platform_user(id),
  constraint member_pkey PRIMARY KEY (organisation_id, user_id)
);
CREATE INDEX member_user ON public.member USING btree (user_id);

create table object (
  hash text not null,
  bytes bigint,
  kept_at timestamp(3) with time zone not null default now(),
  removing_until timestamp(3) with time zone,
  form text,
  form_detail text,
  constraint object_bytes CHECK ((bytes >= 0)),
  constraint object_form_detail CHECK (((form_detail IS NULL) OR (form = 'other'::text))),
  constraint object_form_known CHECK ((form = ANY (ARRAY['object'::text, 'other'::text]))),
  constraint object_hash CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
  constraint object_pkey PRIMARY KEY (hash)
);
CREATE INDEX object_kept ON public.object USING btree (kept_at);

create table one_time_token (
  token_hash text not null,
  purpose text not null,
  user_id uuid not null,
  expires_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone,
  data jsonb,
  constraint one_time_token_purpose_known CHECK ((purpose = ANY (ARRAY['reset'::text, 'verify'::text, 'device'::text]))),
  constraint one_time_token_user FOREIGN KEY (user_id) REFERENCES platform_user(id),
  constraint one_time_token_pkey PRIMARY KEY (token_hash)
);
CREATE INDEX one_time_token_user ON public.one_time_token USING btree (user_id);

create table organisation (
  id uuid not null,
  name text not null,
  slug text not null,
  created_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  personal_of uuid,
  constraint organisation_personal_user FOREIGN KEY (personal_of) REFERENCES platform_user(id),
  constraint organisation_pkey PRIMARY KEY (id),
  constraint organisation_personal_of UNIQUE (personal_of),
  constraint organisation_slug UNIQUE (slug)
);
CREATE INDEX organisation_newest ON public.organisation USING btree (created_at DESC, id DESC) WHERE (deleted_at IS NULL);

create table personal_access_token (
  id uuid not null,
  user_id uuid not null,
  name text not null,
  token_hash text not null,
  scopes text[] not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  parent_id uuid,
  constraint personal_access_token_parent FOREIGN KEY (parent_id) REFERENCES personal_access_token(id),
  constraint personal_access_token_user FOREIGN KEY (user_id) REFERENCES platform_user(id),
  constraint personal_access_token_pkey PRIMARY KEY (id),
  constraint personal_access_token_hash UNIQUE (token_hash)
);
CREATE INDEX personal_access_token_newest ON public.personal_access_token USING btree (user_id, created_at, id);
CREATE INDEX personal_access_token_parent ON public.personal_access_token USING btree (parent_id) WHERE (parent_id IS NOT NULL);

create table plan (
  id uuid not null,
  service_key uuid not null,
  slug text not null,
  revision integer not null,
  name text not null,
  description text not null default ''::text,
  currency text,
  monthly_fee numeric(15,6) not null default 0,
  per_execution numeric(15,6) not null default 0,
  per_cpu_second numeric(15,6) not null default 0,
  unit text not null default 'execution'::text,
  included_quota bigint not null default 0,
  hard_cap bigint,
  starts_per_minute integer,
  max_concurrent integer,
  created_at timestamp(3) with time zone not null default now(),
  ended_at timestamp(3) with time zone,
  max_applications integer,
  constraint plan_limits_consistent CHECK (((included_quota >= 0) AND (hard_cap > 0) AND (hard_cap >= included_quota) AND (starts_per_minute > 0) AND (max_concurrent > 0))),
  constraint plan_max_applications_positive CHECK ((max_applications > 0)),
  constraint plan_prices_consistent CHECK (((monthly_fee >= (0)::numeric) AND (per_execution >= (0)::numeric) AND (per_cpu_second >= (0)::numeric) AND ((currency IS NOT NULL) = (((monthly_fee + per_execution) + per_cpu_second) > (0)::numeric)))),
  constraint plan_unit_known CHECK ((unit = ANY (ARRAY['execution'::text, 'cpu-second'::text]))),
  constraint plan_service FOREIGN KEY (service_key) REFERENCES service(key),
  constraint plan_pkey PRIMARY KEY (id),
  constraint plan_of_service UNIQUE (id, service_key),
  constraint plan_revision UNIQUE (service_key, slug, revision)
);
CREATE UNIQUE INDEX plan_one_current ON public.plan USING btree (service_key, slug) WHERE (ended_at IS NULL);

create table platform_backend (
  id text not null,
  service_key uuid,
  alias_of text,
  shared_at timestamp with time zone not null default now(),
  constraint platform_backend_target CHECK ((num_nonnulls(service_key, alias_of) = 1)),
  constraint platform_backend_alias_of_fkey FOREIGN KEY (alias_of) REFERENCES platform_backend(id) ON DELETE CASCADE,
  constraint platform_backend_service_key_fkey FOREIGN KEY (service_key) REFERENCES service(key),
  constraint platform_backend_pkey PRIMARY KEY (id)
);
CREATE INDEX platform_backend_alias ON public.platform_backend USING btree (alias_of) WHERE (alias_of IS NOT NULL);
CREATE INDEX platform_backend_service ON public.platform_backend USING btree (service_key) WHERE (service_key IS NOT NULL);

create table platform_process (
  id text not null,
  host text not null,
  pid integer not null,
  roles text[] not null,
  version text not null,
  started_at timestamp(3) with time zone not null,
  seen_at timestamp(3) with time zone not null default now(),
  disk_free bigint not null,
  disk_total bigint not null,
  faults jsonb not null,
  sandbox jsonb,
  python text,
  backend_cpu_milli integer,
  backend_memory_milli integer,
  constraint platform_process_pkey PRIMARY KEY (id)
);

create table platform_user (
  id uuid not null,
  email text not null,
  name text not null,
  password_hash text,
  email_verified_at timestamp(3) with time zone,
  is_operator boolean not null default false,
  disabled_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  constraint platform_user_email_lower CHECK ((email = lower(email))),
  constraint platform_user_pkey PRIMARY KEY (id),
  constraint platform_user_email UNIQUE (email)
);
CREATE INDEX platform_user_newest ON public.platform_user USING btree (created_at DESC, id DESC);

create table pool_file (
  id uuid not null,
  pool_id uuid not null,
  organisation_id uuid not null,
  descriptor_id uuid not null,
  name text not null,
  name_key text not null,
  media_type text not null,
  hash text not null,
  bytes bigint not null,
  created_by uuid,
  created_at timestamp(3) with time zone not null default now(),
  ended_at timestamp(3) with time zone,
  application_id uuid,
  constraint pool_file_bytes CHECK ((bytes >= 0)),
  constraint pool_file_creator CHECK ((num_nonnulls(created_by, application_id) = 1)),
  constraint pool_file_application FOREIGN KEY (application_id) REFERENCES application(id),
  constraint pool_file_author FOREIGN KEY (created_by) REFERENCES platform_user(id),
  constraint pool_file_object FOREIGN KEY (hash) REFERENCES object(hash),
  constraint pool_file_pool FOREIGN KEY (pool_id) REFERENCES data_pool(id),
  constraint pool_file_pkey PRIMARY KEY (id)
);
CREATE INDEX pool_file_ended ON public.pool_file USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX pool_file_hash ON public.pool_file USING btree (hash);
CREATE UNIQUE INDEX pool_file_name ON public.pool_file USING btree (pool_id, name_key) WHERE (ended_at IS NULL);
CREATE INDEX pool_file_stored ON public.pool_file USING btree (organisation_id) INCLUDE (bytes) WHERE (ended_at IS NULL);

create table pool_upload (
  id uuid not null,
  organisation_id uuid not null,
  pool_id uuid not null,
  owner_id uuid not null,
  created_by uuid not null,
  name text not null,
  media_type text not null,
  metadata text not null,
  bytes bigint not null,
  sha256 text,
  received bigint not null default 0,
  hash text,
  place uuid not null,
  parts jsonb not null default '[]'::jsonb,
  writer uuid,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  file_id uuid,
  stored_at timestamp(3) with time zone,
  constraint pool_upload_bytes CHECK ((bytes >= 0)),
  constraint pool_upload_hash CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
  constraint pool_upload_received CHECK (((received >= 0) AND (received <= bytes))),
  constraint pool_upload_sha256 CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint pool_upload_author FOREIGN KEY (created_by) REFERENCES platform_user(id),
  constraint pool_upload_organisation FOREIGN KEY (organisation_id) REFERENCES organisation(id),
  constraint pool_upload_pool FOREIGN KEY (pool_id) REFERENCES data_pool(id),
  constraint pool_upload_pkey PRIMARY KEY (id)
);
CREATE INDEX pool_upload_expires ON public.pool_upload USING btree (expires_at);
CREATE INDEX pool_upload_open ON public.pool_upload USING btree (organisation_id, expires_at) WHERE (stored_at IS NULL);
CREATE INDEX pool_upload_promised ON public.pool_upload USING btree (owner_id) INCLUDE (bytes, expires_at) WHERE (stored_at IS NULL);

create table quantum_budget (
  organisation_id uuid not null,
  currency text not null,
  amount numeric,
  month date not null,
  spent numeric not null default 0,
  held numeric not null default 0,
  constraint quantum_budget_natural CHECK (((amount >= (0)::numeric) AND (spent >= (0)::numeric) AND (held >= (0)::numeric))),
  constraint quantum_budget_organisation FOREIGN KEY (organisation_id) REFERENCES organisation(id),
  constraint quantum_budget_pkey PRIMARY KEY (organisation_id, currency)
);

create table quantum_charge (
  execution_id uuid not null,
  organisation_id uuid not null,
  currency text not null,
  month date not null,
  bound numeric not null,
  fixed numeric not null,
  per_second numeric not null,
  timeout_seconds integer not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint quantum_charge_budget FOREIGN KEY (organisation_id, currency) REFERENCES quantum_budget(organisation_id, currency) ON DELETE CASCADE,
  constraint quantum_charge_pkey PRIMARY KEY (execution_id)
);
CREATE INDEX quantum_charge_of_budget ON public.quantum_charge USING btree (organisation_id, currency, execution_id);

create table quantum_session (
  id uuid not null,
  organisation_id uuid not null,
  backend_id text not null,
  alias_of text,
  provider text not null,
  service_key uuid not null,
  version_id uuid not null,
  mode text not null,
  metadata jsonb not null,
  sdk_provider text,
  created_by uuid,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  accepts_jobs boolean not null default true,
  closed_at timestamp(3) with time zone,
  service_execution_id uuid,
  cancelled_at timestamp with time zone,
  constraint quantum_session_opener CHECK ((num_nonnulls(created_by, service_execution_id) = 1)),
  constraint quantum_session_author FOREIGN KEY (created_by) REFERENCES platform_user(id),
  constraint quantum_session_organisation FOREIGN KEY (organisation_id) REFERENCES organisation(id),
  constraint quantum_session_service FOREIGN KEY (service_key) REFERENCES service(key),
  constraint quantum_session_version FOREIGN KEY (version_id) REFERENCES version(id),
  constraint quantum_session_pkey PRIMARY KEY (id)
);
CREATE INDEX quantum_session_newest ON public.quantum_session USING btree (organisation_id, created_at DESC, id DESC);

create table quota (
  subscription_id uuid not null,
  cap bigint,
  month date not null,
  used bigint not null,
  cpu_cap bigint,
  cpu_used bigint not null default 0,
  cpu_expected bigint not null default 1000000,
  concurrent integer,
  unended integer not null default 0,
  constraint quota_cap_natural CHECK ((cap >= 0)),
  constraint quota_concurrent_positive CHECK ((concurrent > 0)),
  constraint quota_cpu_cap_positive CHECK ((cpu_cap > 0)),
  constraint quota_cpu_expected_positive CHECK ((cpu_expected > 0)),
  constraint quota_cpu_used_natural CHECK ((cpu_used >= 0)),
  constraint quota_unended_natural CHECK ((unended >= 0)),
  constraint quota_used_natural CHECK ((used >= 0)),
  constraint quota_pkey PRIMARY KEY (subscription_id)
);

create table schedule (
  id uuid not null,
  organisation_id uuid not null,
  name text not null,
  cron text not null,
  time_zone text not null,
  overlap text not null,
  body text not null,
  service_key uuid,
  version text,
  subscription_id uuid,
  next_at timestamp with time zone,
  planned_at timestamp with time zone not null,
  refusals integer not null default 0,
  pause_code text,
  pause_detail text,
  paused_at timestamp(3) with time zone,
  execution_id uuid,
  changed_by uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint schedule_overlap CHECK ((overlap = ANY (ARRAY['skip'::text, 'queue'::text]))),
  constraint schedule_pause_consistent CHECK (((num_nulls(pause_code, pause_detail, paused_at) = ANY (ARRAY[0, 3])) AND ((next_at IS NULL) OR (paused_at IS NULL)))),
  constraint schedule_target CHECK (((num_nonnulls(service_key, subscription_id) = 1) AND ((version IS NULL) OR (service_key IS NOT NULL)))),
  constraint schedule_author FOREIGN KEY (changed_by) REFERENCES platform_user(id),
  constraint schedule_organisation FOREIGN KEY (organisation_id) REFERENCES organisation(id),
  constraint schedule_pkey PRIMARY KEY (id),
  constraint schedule_name_unique UNIQUE (organisation_id, name)
);
CREATE INDEX schedule_due ON public.schedule USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX schedule_of_organisation ON public.schedule USING btree (organisation_id, id);
CREATE INDEX schedule_planned ON public.schedule USING btree (planned_at) WHERE (next_at IS NOT NULL);

create table schedule_run (
  id uuid not null,
  schedule_id uuid not null,
  trigger text not null,
  due_at timestamp with time zone not null,
  status text not null,
  execution_id uuid not null,
  code text,
  detail text,
  attempt integer not null default 0,
  lease_until timestamp with time zone,
  created_at timestamp(3) with time zone not null default now(),
  asked_by uuid,
  may_edit boolean,
  constraint schedule_run_asked CHECK (((asked_by IS NULL) = (may_edit IS NULL))),
  constraint schedule_run_lease CHECK (((lease_until IS NOT NULL) = (status = 'STARTING'::text))),
  constraint schedule_run_status CHECK ((status = ANY (ARRAY['STARTING'::text, 'STARTED'::text, 'SKIPPED'::text, 'MISSED'::text, 'REFUSED'::text]))),
  constraint schedule_run_trigger CHECK ((trigger = ANY (ARRAY['CRON'::text, 'MANUAL'::text]))),
  constraint schedule_run_asker FOREIGN KEY (asked_by) REFERENCES platform_user(id),
  constraint schedule_run_schedule FOREIGN KEY (schedule_id) REFERENCES schedule(id) ON DELETE CASCADE,
  constraint schedule_run_pkey PRIMARY KEY (id)
);
CREATE INDEX schedule_run_log ON public.schedule_run USING btree (schedule_id, id);
CREATE UNIQUE INDEX schedule_run_once ON public.schedule_run USING btree (schedule_id, due_at) WHERE (trigger = 'CRON'::text);
CREATE INDEX schedule_run_starting ON public.schedule_run USING btree (lease_until) WHERE (status = 'STARTING'::text);

create table schema_migration (
  number integer not null,
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migration_pkey PRIMARY KEY (number)
);

create table service (
  key uuid not null,
  organisation_id uuid not null,
  name text not null,
  description text not null default ''::text,
  publication text,
  created_at timestamp(3) with time zone not null default now(),
  logs text not null default 'caller'::text,
  result_days smallint,
  log_days smallint,
  backend_id text,
  constraint service_log_days_positive CHECK ((log_days > 0)),
  constraint service_logs_known CHECK ((logs = ANY (ARRAY['caller'::text, 'provider'::text]))),
  constraint service_publication_known CHECK ((publication = ANY (ARRAY['internal'::text, 'marketplace'::text]))),
  constraint service_result_days_positive CHECK ((result_days > 0)),
  constraint service_organisation FOREIGN KEY (organisation_id) REFERENCES organisation(id),
  constraint service_pkey PRIMARY KEY (key),
  constraint service_name_unique UNIQUE (organisation_id, name)
);
CREATE UNIQUE INDEX service_backend ON public.service USING btree (organisation_id, backend_id) WHERE (backend_id IS NOT NULL);
CREATE INDEX service_organisation ON public.service USING btree (organisation_id, key);

create table service_day (
  service_key uuid not null,
  day date not null,
  succeeded integer not null,
  failed integer not null,
  runs jsonb not null,
  constraint service_day_pkey PRIMARY KEY (service_key, day)
);
CREATE INDEX service_day_day ON public.service_day USING btree (day);

create table service_policy (
  service_key uuid not null,
  revision integer not null,
  policy jsonb not null,
  created_by uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint service_policy_revision CHECK ((revision > 0)),
  constraint service_policy_service FOREIGN KEY (service_key) REFERENCES service(key),
  constraint service_policy_user FOREIGN KEY (created_by) REFERENCES platform_user(id),
  constraint service_policy_pkey PRIMARY KEY (service_key, revision)
);

create table session (
  id uuid not null,
  token_hash text not null,
  user_id uuid not null,
  device text not null,
  ip text not null,
  created_at timestamp(3) with time zone not null default now(),
  last_seen_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  revoked_at timestamp(3) with time zone,
  constraint session_owner FOREIGN KEY (user_id) REFERENCES platform_user(id),
  constraint session_pkey PRIMARY KEY (id),
  constraint session_token_hash UNIQUE (token_hash)
);
CREATE INDEX session_newest ON public.session USING btree (user_id, created_at, id);

create table sign_in_attempt (
  subject text not null,
  tries integer not null,
  try_id uuid not null,
  tried_at timestamp with time zone not null default now(),
  blocked_until timestamp with time zone,
  constraint sign_in_attempt_pkey PRIMARY KEY (subject)
);
CREATE INDEX sign_in_attempt_old ON public.sign_in_attempt USING btree (tried_at);

create table signing_key (
  kid text not null,
  public_jwk jsonb not null,
  private_jwk_encrypted text not null,
  created_at timestamp(3) with time zone not null default now(),
  retired_at timestamp(3) with time zone,
  is_withdrawn boolean not null default false,
  constraint signing_key_pkey PRIMARY KEY (kid)
);

create table start_bucket (
  subject text not null,
  level double precision not null,
  granted integer not null,
  at timestamp with time zone not null,
  constraint start_bucket_pkey PRIMARY KEY (subject)
);
CREATE INDEX start_bucket_old ON public.start_bucket USING btree (at);

create table subscription (
  id uuid not null,
  application_id uuid not null,
  service_key uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  cancelled_at timestamp(3) with time zone,
  plan_id uuid,
  paused_at timestamp(3) with time zone,
  major integer,
  minor integer,
  patch integer,
  shares_logs boolean not null default false,
  ended_at timestamp(3) with time zone,
  end_reason text,
  constraint subscription_end_consistent CHECK (((ended_at IS NULL) = (end_reason IS NULL))),
  constraint subscription_version_consistent CHECK ((((minor IS NULL) = (patch IS NULL)) AND ((major IS NOT NULL) OR (minor IS NULL)))),
  constraint subscription_application FOREIGN KEY (application_id) REFERENCES application(id),
  constraint subscription_plan FOREIGN KEY (plan_id, service_key) REFERENCES plan(id, service_key),
  constraint subscription_service FOREIGN KEY (service_key) REFERENCES service(key),
  constraint subscription_pkey PRIMARY KEY (id)
);
CREATE INDEX subscription_of_application ON public.subscription USING btree (application_id, service_key);
CREATE INDEX subscription_of_service ON public.subscription USING btree (service_key);
CREATE UNIQUE INDEX subscription_one_active ON public.subscription USING btree (application_id, service_key) WHERE (cancelled_at IS NULL);

create table subscription_term (
  subscription_id uuid not null,
  since timestamp(3) with time zone not null,
  plan_id uuid,
  constraint subscription_term_pkey PRIMARY KEY (subscription_id, since)
);

create table usage_day (
  day date not null,
  organisation_id uuid not null,
  owner_id uuid not null,
  version_id uuid not null,
  plan_id uuid,
  succeeded bigint not null,
  failed bigint not null,
  unknown bigint not null,
  uncounted bigint not null,
  cpu_micros bigint not null,
  gb_micros bigint not null,
  constraint usage_day_line UNIQUE NULLS NOT DISTINCT (organisation_id, day, owner_id, version_id, plan_id)
);
CREATE INDEX usage_day_of_version ON public.usage_day USING btree (version_id, day);

create table usage_entry (
  day date not null,
  organisation_id uuid not null,
  owner_id uuid not null,
  version_id uuid not null,
  plan_id uuid,
  succeeded bigint not null,
  failed bigint not null,
  unknown bigint not null,
  uncounted bigint not null,
  cpu_micros bigint not null,
  gb_micros bigint not null
);

create table variable (
  organisation_id uuid not null,
  scope_id uuid not null,
  name text not null,
  revision integer not null,
  sealed text,
  key_id text,
  changed_at timestamp(3) with time zone not null default now(),
  changed_by uuid not null,
  value text,
  constraint variable_one_kind CHECK (((sealed IS NULL) OR (value IS NULL))),
  constraint variable_author FOREIGN KEY (changed_by) REFERENCES platform_user(id),
  constraint variable_organisation FOREIGN KEY (organisation_id) REFERENCES organisation(id),
  constraint variable_pkey PRIMARY KEY (scope_id, name)
);

create table version (
  id uuid not null,
  service_key uuid not null,
  major integer not null,
  minor integer not null,
  patch integer not null,
  archive_hash text not null,
  content_hash text not null,
  cpu_milli integer not null,
  memory_milli integer not null,
  timeout_seconds integer not null,
  start_mode text not null,
  input_schema json,
  output_schema json,
  description text not null default ''::text,
  created_at timestamp(3) with time zone not null default now(),
  retired_at timestamp(3) with time zone,
  stored_bytes bigint not null default 0,
  network jsonb,
  output jsonb,
  search tsvector generated always as (to_tsvector('simple'::regconfig, "left"(description, 10000))) stored,
  requirements_hash text,
  python text,
  example_input json,
  requirements text,
  backend jsonb,
  constraint version_resources_positive CHECK (((cpu_milli > 0) AND (memory_milli > 0) AND (timeout_seconds > 0))),
  constraint version_start_mode_known CHECK ((start_mode = ANY (ARRAY['auto'::text, 'spawn'::text]))),
  constraint version_service FOREIGN KEY (service_key) REFERENCES service(key),
  constraint version_pkey PRIMARY KEY (id),
  constraint version_number_unique UNIQUE (service_key, major, minor, patch)
);
CREATE INDEX version_archive ON public.version USING btree (archive_hash);
CREATE INDEX version_content ON public.version USING btree (service_key, content_hash);

create table webhook (
  id uuid not null,
  application_id uuid,
  url text,
  events text[] not null,
  is_paused boolean not null default false,
  secret text not null,
  key_id text not null,
  former_secret text,
  former_key_id text,
  former_until timestamp(3) with time zone,
  created_by uuid,
  created_at timestamp(3) with time zone not null default now(),
  organisation_id uuid not null,
  constraint webhook_former_consistent CHECK ((num_nulls(former_secret, former_key_id, former_until) = ANY (ARRAY[0, 3]))),
  constraint webhook_application FOREIGN KEY (application_id) REFERENCES application(id),
  constraint webhook_author FOREIGN KEY (created_by) REFERENCES platform_user(id),
  constraint webhook_organisation FOREIGN KEY (organisation_id) REFERENCES organisation(id),
  constraint webhook_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_of_application ON public.webhook USING btree (application_id, id);
CREATE INDEX webhook_of_jobs ON public.webhook USING btree (organisation_id, id) WHERE (application_id IS NULL);
CREATE UNIQUE INDEX webhook_of_starts ON public.webhook USING btree (COALESCE(application_id, organisation_id)) WHERE (url IS NULL);

create table webhook_delivery (
  id uuid not null,
  webhook_id uuid not null,
  execution_id uuid,
  event text not null,
  body text not null,
  status text not null default 'PENDING'::text,
  attempt integer not null default 0,
  next_at timestamp with time zone not null default now(),
  give_up_at timestamp with time zone not null default (now() + '24:00:00'::interval),
  lease_until timestamp with time zone,
  worker_id text,
  attempts jsonb not null default '[]'::jsonb,
  created_at timestamp(3) with time zone not null default now(),
  url text,
  lane text,
  constraint webhook_delivery_lane CHECK (((url IS NULL) = (lane IS NULL))),
  constraint webhook_delivery_status CHECK ((status = ANY (ARRAY['PENDING'::text, 'DELIVERED'::text, 'FAILED'::text]))),
  constraint webhook_delivery_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (webhook_id, next_at) WHERE (status = 'PENDING'::text);
CREATE INDEX webhook_delivery_held ON public.webhook_delivery USING btree (webhook_id) WHERE (lease_until IS NOT NULL);
CREATE INDEX webhook_delivery_lanes ON public.webhook_delivery USING btree (webhook_id, lane, next_at) WHERE ((status = 'PENDING'::text) AND (lane IS NOT NULL));
CREATE INDEX webhook_delivery_log ON public.webhook_delivery USING btree (webhook_id, id);

create table webhook_mark (
  is_only boolean not null default true,
  "position" bigint not null,
  constraint webhook_mark_is_only CHECK (is_only),
  constraint webhook_mark_pkey PRIMARY KEY (is_only)
);

create table worker (
  id text not null,
  cpu_milli integer not null,
  memory_milli integer not null,
  seen_at timestamp with time zone not null default now(),
  reserved_execution_id uuid,
  draining_since timestamp(3) with time zone,
  kind text not null default 'service'::text,
  constraint worker_capacity_positive CHECK (((cpu_milli > 0) AND (memory_milli > 0))),
  constraint worker_kind_known CHECK ((kind = ANY (ARRAY['service'::text, 'backend'::text]))),
  constraint worker_pkey PRIMARY KEY (id)
);
