-- Secrets of services and of organisations. Values are sealed by the platform before they come here.
create table secret (
  organisation_id uuid not null constraint secret_organisation references organisation (id),
  -- The service, or the organisation itself.
  scope_id uuid not null,
  name text not null,
  -- Counts on over a deletion, so that a value that was put back is another revision.
  revision integer not null,
  -- AES-256-GCM, bound to organisation, scope and name; null: it was deleted.
  sealed text,
  -- Names the key that it is sealed with.
  key_id text not null,
  changed_at timestamptz(3) not null default now(),
  changed_by uuid not null constraint secret_author references platform_user (id),
  constraint secret_pkey primary key (scope_id, name)
);
