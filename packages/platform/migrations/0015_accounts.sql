-- Users, organisations, members, sessions and personal access tokens in tables of our own. The data of the tables of better-auth
-- (0003_identity.sql) moves here, and they are dropped. Hashes stay as they are: passwords are rehashed at the next sign-in, and the
-- hash of a token is the same function (SHA-256, base64url), so every token goes on working.

create table platform_user (
  id uuid primary key,
  -- In lower case, so that one address is one user.
  email text not null constraint platform_user_email unique,
  name text not null,
  -- Null: signs in elsewhere (external_login), or not at all.
  password_hash text,
  email_verified_at timestamptz(3),
  -- Runs the platform: sees what belongs to no organisation.
  is_operator boolean not null default false,
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint platform_user_email_lower check (email = lower(email))
);

-- Only --bootstrap made users that belong to nobody's organisation, and it made the first: the operator.
insert into platform_user (id, email, name, password_hash, email_verified_at, is_operator, created_at)
  select u."id", lower(u."email"), u."name",
    (select a."password" from "account" a
      where a."userId" = u."id" and a."providerId" = 'credential' and a."password" is not null
      order by a."createdAt" limit 1),
    case when u."emailVerified" then u."updatedAt" end,
    u."id" = (select first."id" from "user" first order by first."createdAt", first."id" limit 1),
    u."createdAt"
  from "user" u;

alter table "organization" rename to organisation;
alter table organisation rename constraint organization_pkey to organisation_pkey;
alter table organisation rename constraint organization_slug_key to organisation_slug;
alter table organisation rename column "createdAt" to created_at;
alter table organisation
  alter column id drop default,
  alter column created_at type timestamptz(3),
  alter column created_at set default now(),
  drop column logo,
  drop column metadata,
  add column deleted_at timestamptz(3),
  -- The user whose own organisation this is; it is used when a request names none.
  add column personal_of uuid
    constraint organisation_personal_of unique
    constraint organisation_personal_user references platform_user (id);
update organisation o set personal_of = u.id from platform_user u where o.slug = 'personal-' || u.id;

alter table member rename column "organizationId" to organisation_id;
alter table member rename column "userId" to user_id;
alter table member rename column "createdAt" to joined_at;
alter table member
  drop constraint member_pkey,
  drop constraint "member_organizationId_fkey",
  drop constraint "member_userId_fkey",
  drop column id,
  alter column joined_at type timestamptz(3),
  alter column joined_at set default now(),
  add column last_seen_at timestamptz(3);
drop index "member_organizationId_userId_idx", "member_organizationId_idx", "member_userId_idx";
-- A role of another release had the fewest rights.
update member set role = 'viewer' where role not in ('owner', 'maintainer', 'viewer');
alter table member
  add constraint member_pkey primary key (organisation_id, user_id),
  add constraint member_role_known check (role in ('owner', 'maintainer', 'viewer')),
  add constraint member_organisation foreign key (organisation_id) references organisation (id),
  add constraint member_user foreign key (user_id) references platform_user (id);
create index member_user on member (user_id);

create table personal_access_token (
  id uuid primary key,
  user_id uuid not null constraint personal_access_token_user references platform_user (id),
  name text not null,
  -- SHA-256 of the token, base64url without padding.
  token_hash text not null constraint personal_access_token_hash unique,
  scopes text[] not null,
  created_at timestamptz(3) not null default now(),
  -- Null: never.
  expires_at timestamptz(3),
  -- To the minute.
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  -- The token that it was made with; null: a session, or the first login.
  parent_id uuid constraint personal_access_token_parent references personal_access_token (id)
);
create index personal_access_token_newest on personal_access_token (user_id, created_at, id);

-- The scope `api` opened everything, which is `admin` now. A token without a user is what a killed first start left behind.
insert into personal_access_token
    (id, user_id, name, token_hash, scopes, created_at, expires_at, last_used_at, revoked_at)
  select k."id", u.id, coalesce(k."name", ''), k."key",
    array(
      select case scope when 'api' then 'admin' else scope end
      from jsonb_array_elements_text(coalesce(k."permissions"::jsonb -> 'platform', '[]')) as scope
      where scope in ('api', 'quantum')
    ),
    k."createdAt", k."expiresAt", k."lastRequest", case when k."enabled" is false then k."updatedAt" end
  from "apikey" k join platform_user u on u.id::text = k."referenceId";

drop table "session", "account", "verification", "invitation", "apikey";
drop table "user";

-- Sessions of browsers. The cookie holds 32 random bytes, the row their SHA-256.
create table session (
  id uuid primary key,
  token_hash text not null constraint session_token_hash unique,
  user_id uuid not null constraint session_owner references platform_user (id),
  -- What the browser says it is, shortened.
  device text not null,
  ip text not null,
  created_at timestamptz(3) not null default now(),
  -- To the minute; the end moves with it.
  last_seen_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3)
);
create index session_newest on session (user_id, created_at, id);

-- Tries to sign in, counted for an account (SHA-256 of the address it was tried with, also one that no user has) and for the address
-- of the client, so that all processes count together.
create table sign_in_attempt (
  -- `account:` or `client:`, and which.
  subject text primary key,
  tries integer not null,
  -- The last try that was let through.
  try_id uuid not null,
  tried_at timestamptz not null default now(),
  blocked_until timestamptz
);
create index sign_in_attempt_old on sign_in_attempt (tried_at);

create table invitation (
  id uuid primary key,
  organisation_id uuid not null constraint invitation_organisation references organisation (id),
  -- Null: for whoever has the link.
  email text,
  role text not null constraint invitation_role_known check (role in ('owner', 'maintainer', 'viewer')),
  token_hash text not null constraint invitation_token_hash unique,
  invited_by uuid not null constraint invitation_inviter references platform_user (id),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  accepted_by uuid constraint invitation_guest references platform_user (id),
  revoked_at timestamptz(3)
);
create index invitation_newest on invitation (organisation_id, created_at, id);

-- Links and codes that work once.
create table one_time_token (
  token_hash text primary key,
  purpose text not null constraint one_time_token_purpose_known check (purpose in ('reset', 'verify', 'device')),
  user_id uuid not null constraint one_time_token_user references platform_user (id),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  data jsonb
);
create index one_time_token_user on one_time_token (user_id);

-- Users as an OpenID provider names them.
create table external_login (
  issuer text not null,
  subject text not null,
  user_id uuid not null constraint external_login_user references platform_user (id),
  constraint external_login_pkey primary key (issuer, subject)
);
create index external_login_user on external_login (user_id);
