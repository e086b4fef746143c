-- What quantum jobs of an organisation may cost in a month, by currency.
set local lock_timeout = '3s';

create table quantum_budget (
  organisation_id uuid not null,
  currency text not null,
  amount numeric not null,
  -- The month that is counted; what is spent and held of it.
  month date not null,
  spent numeric not null default 0,
  held numeric not null default 0,
  constraint quantum_budget_pkey primary key (organisation_id, currency),
  constraint quantum_budget_organisation foreign key (organisation_id) references organisation (id),
  constraint quantum_budget_natural check (amount >= 0 and spent >= 0 and held >= 0)
);

-- What a job with a price holds of a budget, until what it has cost is added there.
create table quantum_charge (
  execution_id uuid not null,
  organisation_id uuid not null,
  currency text not null,
  month date not null,
  -- What it may cost at most; what it costs if it completes, and each second that it runs, of so many.
  bound numeric not null,
  fixed numeric not null,
  per_second numeric not null,
  timeout_seconds integer not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint quantum_charge_pkey primary key (execution_id),
  constraint quantum_charge_budget foreign key (organisation_id, currency) references quantum_budget (organisation_id, currency) on delete cascade
);

create index quantum_charge_of_budget on quantum_charge (organisation_id, currency, execution_id);
