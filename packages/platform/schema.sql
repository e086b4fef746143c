-- Written by `npm run gen` from the migrations; do not edit.
-- Daily partitions are left out.

create table access_key (
  id text not null,
  application_id uuid not null,
  secret_hash text not null,
  created_at timestamp(3) with time zone not null default now(),
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  constraint access_key_application FOREIGN KEY (application_id) REFERENCES application(id),
  constraint access_key_pkey PRIMARY KEY (id)
);
CREATE INDEX access_key_application_newest ON public.access_key USING btree (application_id, created_at, id);

create table account (
  id uuid not null default gen_random_uuid(),
  "accountId" text not null,
  "providerId" text not null,
  "userId" uuid not null,
  "accessToken" text,
  "refreshToken" text,
  "idToken" text,
  "accessTokenExpiresAt" timestamp with time zone,
  "refreshTokenExpiresAt" timestamp with time zone,
  scope text,
  password text,
  "createdAt" timestamp with time zone not null default CURRENT_TIMESTAMP,
  "updatedAt" timestamp with time zone not null,
  constraint "account_userId_fkey" FOREIGN KEY ("userId") REFERENCES "user"(id) ON DELETE CASCADE,
  constraint account_pkey PRIMARY KEY (id)
);
CREATE INDEX "account_userId_idx" ON public.account USING btree ("userId");

create table apikey (
  id uuid not null default gen_random_uuid(),
  "configId" text not null,
  name text,
  start text,
  "referenceId" text not null,
  prefix text,
  key text not null,
  "refillInterval" integer,
  "refillAmount" integer,
  "lastRefillAt" timestamp with time zone,
  enabled boolean,
  "rateLimitEnabled" boolean,
  "rateLimitTimeWindow" integer,
  "rateLimitMax" integer,
  "requestCount" integer,
  remaining integer,
  "lastRequest" timestamp with time zone,
  "expiresAt" timestamp with time zone,
  "createdAt" timestamp with time zone not null,
  "updatedAt" timestamp with time zone not null,
  permissions text,
  metadata text,
  constraint apikey_pkey PRIMARY KEY (id)
);
CREATE INDEX "apikey_configId_idx" ON public.apikey USING btree ("configId");
CREATE INDEX apikey_key_idx ON public.apikey USING btree (key);
CREATE INDEX "apikey_referenceId_idx" ON public.apikey USING btree ("referenceId");

create table application (
  id uuid not null,
  organisation_id uuid not null,
  name text not null,
  created_by text not null,
  created_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint application_organisation FOREIGN KEY (organisation_id) REFERENCES organization(id),
  constraint application_pkey PRIMARY KEY (id)
);
CREATE INDEX application_organisation ON public.application USING btree (organisation_id, id) WHERE (deleted_at IS NULL);

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
  constraint build_ended_consistent CHECK (((ended_at IS NOT NULL) = (status = ANY (ARRAY['SUCCEEDED'::text, 'FAILED'::text])))),
  constraint build_failure_consistent CHECK (((failure_code IS NOT NULL) = (status = 'FAILED'::text))),
  constraint build_status_known CHECK ((status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text, 'SUCCEEDED'::text, 'FAILED'::text]))),
  constraint build_service FOREIGN KEY (service_key) REFERENCES service(key),
  constraint build_pkey PRIMARY KEY (id)
);
CREATE INDEX build_archive ON public.build USING btree (archive_hash) WHERE (status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text]));
CREATE UNIQUE INDEX build_one_at_a_time ON public.build USING btree (service_key, major, minor, patch) WHERE (status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text]));
CREATE INDEX build_queue ON public.build USING btree (id) WHERE (status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text]));
CREATE INDEX build_version ON public.build USING btree (service_key, major, minor, patch, id);

create table build_log (
  build_id uuid not null,
  line integer not null,
  text text not null,
  constraint build_log_build FOREIGN KEY (build_id) REFERENCES build(id) ON DELETE CASCADE,
  constraint build_log_pkey PRIMARY KEY (build_id, line)
);

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
  constraint execution_failure_consistent CHECK (((failure_code IS NOT NULL) = (status = ANY (ARRAY['FAILED'::text, 'UNKNOWN'::text])))),
  constraint execution_lease_while_running CHECK (((lease_until IS NOT NULL) = (status = 'RUNNING'::text))),
  constraint execution_owner_consistent CHECK (
CASE owner_kind
    WHEN 'subscription'::text THEN true
    WHEN 'organisation'::text THEN (organisation_id = owner_id)
    ELSE false
END),
  constraint execution_resources_positive CHECK (((cpu_milli > 0) AND (memory_milli > 0) AND (timeout_seconds > 0))),
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
CREATE INDEX execution_lease ON ONLY public.execution USING btree (lease_until) WHERE (lease_until IS NOT NULL);
CREATE INDEX execution_line ON ONLY public.execution USING btree (owner_id, priority, rank) WHERE (status = 'PENDING'::text);
CREATE INDEX execution_owner_status ON ONLY public.execution USING btree (owner_id, status, id);
CREATE INDEX execution_queue ON ONLY public.execution USING btree (priority DESC, rank, id) WHERE (status = 'PENDING'::text);
CREATE INDEX execution_served ON ONLY public.execution USING btree (priority, rank) WHERE (lease_until IS NOT NULL);

create table execution_default partition of execution DEFAULT;

create table execution_input (
  id uuid not null,
  body bytea not null,
  "references" jsonb,
  constraint execution_input_pkey PRIMARY KEY (id)
) partition by RANGE (id);

create table execution_input_default partition of execution_input DEFAULT;

create table execution_log (
  id uuid not null,
  seq bigint not null,
  lines bytea not null,
  constraint execution_log_pkey PRIMARY KEY (id, seq)
) partition by RANGE (id);

create table execution_log_default partition of execution_log DEFAULT;

create table execution_result (
  id uuid not null,
  result bytea not null,
  metadata bytea,
  constraint execution_result_pkey PRIMARY KEY (id)
) partition by RANGE (id);

create table execution_result_default partition of execution_result DEFAULT;

create table invitation (
  id uuid not null default gen_random_uuid(),
  "organizationId" uuid not null,
  email text not null,
  role text,
  status text not null,
  "expiresAt" timestamp with time zone not null,
  "createdAt" timestamp with time zone not null default CURRENT_TIMESTAMP,
  "inviterId" uuid not null,
  constraint "invitation_inviterId_fkey" FOREIGN KEY ("inviterId") REFERENCES "user"(id) ON DELETE CASCADE,
  constraint "invitation_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES organization(id) ON DELETE CASCADE,
  constraint invitation_pkey PRIMARY KEY (id)
);
CREATE INDEX invitation_email_idx ON public.invitation USING btree (email);
CREATE INDEX "invitation_organizationId_idx" ON public.invitation USING btree ("organizationId");

create table member (
  id uuid not null default gen_random_uuid(),
  "organizationId" uuid not null,
  "userId" uuid not null,
  role text not null,
  "createdAt" timestamp with time zone not null,
  constraint "member_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES organization(id) ON DELETE CASCADE,
  constraint "member_userId_fkey" FOREIGN KEY ("userId") REFERENCES "user"(id) ON DELETE CASCADE,
  constraint member_pkey PRIMARY KEY (id)
);
CREATE INDEX "member_organizationId_idx" ON public.member USING btree ("organizationId");
CREATE UNIQUE INDEX "member_organizationId_userId_idx" ON public.member USING btree ("organizationId", "userId");
CREATE INDEX "member_userId_idx" ON public.member USING btree ("userId");

create table organization (
  id uuid not null default gen_random_uuid(),
  name text not null,
  slug text not null,
  logo text,
  "createdAt" timestamp with time zone not null,
  metadata text,
  constraint organization_pkey PRIMARY KEY (id),
  constraint organization_slug_key UNIQUE (slug)
);

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
  constraint service_publication_known CHECK ((publication = 'internal'::text)),
  constraint service_organisation FOREIGN KEY (organisation_id) REFERENCES organization(id),
  constraint service_pkey PRIMARY KEY (key),
  constraint service_name_unique UNIQUE (organisation_id, name)
);
CREATE INDEX service_organisation ON public.service USING btree (organisation_id, key);

create table session (
  id uuid not null default gen_random_uuid(),
  "expiresAt" timestamp with time zone not null,
  token text not null,
  "createdAt" timestamp with time zone not null default CURRENT_TIMESTAMP,
  "updatedAt" timestamp with time zone not null,
  "ipAddress" text,
  "userAgent" text,
  "userId" uuid not null,
  "activeOrganizationId" text,
  constraint "session_userId_fkey" FOREIGN KEY ("userId") REFERENCES "user"(id) ON DELETE CASCADE,
  constraint session_pkey PRIMARY KEY (id),
  constraint session_token_key UNIQUE (token)
);
CREATE INDEX "session_userId_idx" ON public.session USING btree ("userId");

create table signing_key (
  kid text not null,
  public_jwk jsonb not null,
  private_jwk_encrypted text not null,
  created_at timestamp(3) with time zone not null default now(),
  retired_at timestamp(3) with time zone,
  constraint signing_key_pkey PRIMARY KEY (kid)
);

create table subscription (
  id uuid not null,
  application_id uuid not null,
  service_key uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  cancelled_at timestamp(3) with time zone,
  constraint subscription_application FOREIGN KEY (application_id) REFERENCES application(id),
  constraint subscription_service FOREIGN KEY (service_key) REFERENCES service(key),
  constraint subscription_pkey PRIMARY KEY (id)
);
CREATE INDEX subscription_of_service ON public.subscription USING btree (service_key);
CREATE UNIQUE INDEX subscription_one_active ON public.subscription USING btree (application_id, service_key) WHERE (cancelled_at IS NULL);

create table "user" (
  id uuid not null default gen_random_uuid(),
  name text not null,
  email text not null,
  "emailVerified" boolean not null,
  image text,
  "createdAt" timestamp with time zone not null default CURRENT_TIMESTAMP,
  "updatedAt" timestamp with time zone not null default CURRENT_TIMESTAMP,
  constraint user_pkey PRIMARY KEY (id),
  constraint user_email_key UNIQUE (email)
);

create table verification (
  id uuid not null default gen_random_uuid(),
  identifier text not null,
  value text not null,
  "expiresAt" timestamp with time zone not null,
  "createdAt" timestamp with time zone not null default CURRENT_TIMESTAMP,
  "updatedAt" timestamp with time zone not null default CURRENT_TIMESTAMP,
  constraint verification_pkey PRIMARY KEY (id)
);
CREATE INDEX verification_identifier_idx ON public.verification USING btree (identifier);

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
  input_schema jsonb,
  output_schema jsonb,
  description text not null default ''::text,
  created_at timestamp(3) with time zone not null default now(),
  retired_at timestamp(3) with time zone,
  stored_bytes bigint not null default 0,
  network jsonb,
  output jsonb,
  constraint version_resources_positive CHECK (((cpu_milli > 0) AND (memory_milli > 0) AND (timeout_seconds > 0))),
  constraint version_start_mode_known CHECK ((start_mode = ANY (ARRAY['auto'::text, 'spawn'::text]))),
  constraint version_service FOREIGN KEY (service_key) REFERENCES service(key),
  constraint version_pkey PRIMARY KEY (id),
  constraint version_number_unique UNIQUE (service_key, major, minor, patch)
);
CREATE INDEX version_archive ON public.version USING btree (archive_hash);
CREATE INDEX version_content ON public.version USING btree (service_key, content_hash);

create table worker (
  id text not null,
  cpu_milli integer not null,
  memory_milli integer not null,
  seen_at timestamp with time zone not null default now(),
  reserved_execution_id uuid,
  constraint worker_capacity_positive CHECK (((cpu_milli > 0) AND (memory_milli > 0))),
  constraint worker_pkey PRIMARY KEY (id)
);
