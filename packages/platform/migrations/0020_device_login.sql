-- Logins of programs without a browser (RFC 8628): a program shows a code, its user confirms it on a page of the platform, and the program
-- gets a personal access token. All three secrets are stored as SHA-256, base64url.

create table device_login (
  id uuid primary key,
  -- What the program shows to ask for its token.
  device_code_hash text not null constraint device_login_device_code unique,
  -- What the user types; short, and good for minutes.
  user_code_hash text not null constraint device_login_user_code unique,
  -- What the program says it is, and where it asked from.
  client_name text not null,
  ip text not null,
  scopes text[] not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  -- How long the program has to wait between two questions.
  interval_seconds integer not null,
  asked_at timestamptz(3),
  -- Who has signed in to decide, and the hash of what the page then sends back.
  user_id uuid constraint device_login_user references platform_user (id),
  ticket_hash text constraint device_login_ticket unique,
  decision text constraint device_login_decision_known check (decision in ('approved', 'denied')),
  redeemed_at timestamptz(3)
);
create index device_login_user on device_login (user_id);
create index device_login_old on device_login (expires_at);
