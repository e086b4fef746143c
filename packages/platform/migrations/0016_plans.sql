-- Services in the marketplace, their plans, and subscriptions across organisations.

alter table service drop constraint service_publication_known;
-- Null: nobody can subscribe. internal: applications of the organisation can. marketplace: those of all organisations can.
alter table service add constraint service_publication_known check (publication in ('internal', 'marketplace'));

-- The terms of a subscription. A row never changes but for `ended_at`: other terms are a new revision, so that nobody's price or
-- quota changes under a subscription.
create table plan (
  id uuid primary key,
  service_key uuid not null constraint plan_service references service (key),
  -- With the service the name of the plan in URLs; the same for all its revisions.
  slug text not null,
  revision integer not null,
  name text not null,
  description text not null default '',
  -- ISO 4217; null: every price is zero.
  currency text,
  -- Prices in units of the currency, exact to a millionth: a fee for each month, and for each execution and CPU-second beyond the quota.
  monthly_fee numeric(15, 6) not null default 0,
  per_execution numeric(15, 6) not null default 0,
  per_cpu_second numeric(15, 6) not null default 0,
  -- What quota and cap count.
  unit text not null default 'execution',
  -- Units of each month that cost nothing more than the fee.
  included_quota bigint not null default 0,
  -- Units of each month beyond which nothing is started; null: there is no cap.
  hard_cap bigint,
  -- Starts in one minute, and executions at one time; null: what the platform allows.
  starts_per_minute integer,
  max_concurrent integer,
  created_at timestamptz(3) not null default now(),
  -- When it was replaced by the next revision, or withdrawn; null: it can be subscribed to.
  ended_at timestamptz(3),
  constraint plan_revision unique (service_key, slug, revision),
  -- For subscription_plan: a subscription has a plan of its own service.
  constraint plan_of_service unique (id, service_key),
  constraint plan_unit_known check (unit in ('execution', 'cpu-second')),
  constraint plan_prices_consistent check (
    monthly_fee >= 0 and per_execution >= 0 and per_cpu_second >= 0
    and (currency is not null) = (monthly_fee + per_execution + per_cpu_second > 0)),
  constraint plan_limits_consistent check (
    included_quota >= 0 and hard_cap > 0 and hard_cap >= included_quota and starts_per_minute > 0 and max_concurrent > 0)
);

create unique index plan_one_current on plan (service_key, slug) where ended_at is null;

alter table subscription
  -- Null: within one organisation, without a plan.
  add column plan_id uuid,
  -- Null: starts executions.
  add column paused_at timestamptz(3),
  -- The version that its endpoint URL names: of this major number, or this very one; null: the highest of all.
  add column major integer,
  add column minor integer,
  add column patch integer,
  add constraint subscription_plan foreign key (plan_id, service_key) references plan (id, service_key),
  add constraint subscription_version_consistent check (
    (minor is null) = (patch is null) and (major is not null or minor is null));
