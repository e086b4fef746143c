-- An invitation that its reader has declined (store/accounts/invitations.ts): it is revoked as well, so that a process of the former release,
-- which does not know this column, opens nothing with it. Its organisation reads so until it would have expired.
set local lock_timeout = '3s';

alter table invitation
  add column declined_at timestamptz(3),
  add constraint invitation_declined_closed check (declined_at is null or (revoked_at is not null and accepted_at is null));
