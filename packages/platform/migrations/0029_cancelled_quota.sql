-- A cancelled subscription has a cap of 0: nothing is counted for it any more.

alter table quota
  drop constraint quota_cap_positive,
  add constraint quota_cap_natural check (cap >= 0);

update quota q set cap = 0 from subscription b where b.id = q.subscription_id and b.cancelled_at is not null;
