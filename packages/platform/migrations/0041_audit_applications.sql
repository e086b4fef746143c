-- An application stores results as files of data pools, with nobody's request: it is who did it. The address is empty then.
alter table audit_entry drop constraint audit_entry_actor_known;
alter table audit_entry add constraint audit_entry_actor_known check (actor_kind in ('user', 'claimed', 'application'));

-- As in 0019; the name may be that of an application.
create or replace function append_audit_entry(
  organisation uuid, actor_kind text, actor uuid, credential text, action text, target text, outcome text, code text, ip text, changes text
) returns void language plpgsql as $$
#variable_conflict use_column
declare
  entry audit_entry;
  former bytea;
begin
  entry.organisation_id := coalesce(organisation, (select o.id from organisation o where o.personal_of = actor));
  if entry.organisation_id is null then return; end if;
  entry.actor_name := coalesce(
    (select u.email from platform_user u where u.id = actor), (select a.name from application a where a.id = actor), '');
  insert into audit_chain as c (organisation_id, sequence, hash)
    values (entry.organisation_id, 0, decode(repeat('00', 32), 'hex')) on conflict do nothing;
  select c.sequence + 1, c.hash into entry.sequence, former
    from audit_chain c where c.organisation_id = entry.organisation_id for update;
  -- Not the start of the transaction: times rise with the numbers.
  entry.at := date_trunc('milliseconds', clock_timestamp());
  entry.actor_kind := append_audit_entry.actor_kind;
  entry.actor_id := append_audit_entry.actor;
  entry.credential := append_audit_entry.credential;
  entry.action := append_audit_entry.action;
  entry.target := append_audit_entry.target;
  entry.outcome := append_audit_entry.outcome;
  entry.code := append_audit_entry.code;
  entry.ip := append_audit_entry.ip;
  entry.changes := append_audit_entry.changes;
  entry.hash := hash_audit_entry(former, entry);
  insert into audit_entry select entry.*;
  update audit_chain c set sequence = entry.sequence, hash = entry.hash where c.organisation_id = entry.organisation_id;
end $$;
