-- The audit log of each organisation: who did what to which resource, when, from where. Entries are only ever added. Each has the
-- SHA-256 of the former entry's hash and of itself, so that a change in the middle shows; the last hash stands in audit_chain, so that
-- missing entries at the end show as well.

-- One row for each organisation that has entries. Its lock puts the entries in order.
create table audit_chain (
  -- No foreign key: it would lock the organisation's row while this one is locked, and deleting an organisation does it the other way.
  organisation_id uuid primary key,
  -- Of the last entry, from 1.
  sequence bigint not null,
  hash bytea not null
);

create table audit_entry (
  organisation_id uuid not null,
  sequence bigint not null,
  at timestamptz(3) not null,
  -- claimed: somebody who said to be this user, and did not prove it.
  actor_kind text not null constraint audit_entry_actor_known check (actor_kind in ('user', 'claimed')),
  actor_id uuid,
  -- The user's address at that time.
  actor_name text not null,
  -- `token:<id>` or `session:<id>`.
  credential text,
  -- The name of the operation in the contract, `resource.verb`.
  action text not null,
  -- Ids from the outer resource to the inner one, separated by slashes.
  target text,
  outcome text not null constraint audit_entry_outcome_known check (outcome in ('done', 'refused')),
  -- Of a refusal: the code of the problem.
  code text,
  ip text not null,
  -- JSON as it was written, since it is hashed.
  changes text not null,
  hash bytea not null,
  constraint audit_entry_pkey primary key (organisation_id, sequence)
);

-- The canonical form of a value: its length in bytes, a colon, the value, a comma; of null `-,`.
create function audit_part(value text) returns text language sql immutable parallel safe
  return coalesce(octet_length(convert_to(value, 'UTF8')) || ':' || value, '-') || ',';

create function hash_audit_entry(former bytea, e audit_entry) returns bytea language sql stable parallel safe
  return sha256(former || convert_to(
    audit_part(e.organisation_id::text) || audit_part(e.sequence::text)
    || audit_part((extract(epoch from e.at) * 1000)::bigint::text) || audit_part(e.actor_kind)
    || audit_part(e.actor_id::text) || audit_part(e.actor_name) || audit_part(e.credential) || audit_part(e.action)
    || audit_part(e.target) || audit_part(e.outcome) || audit_part(e.code) || audit_part(e.ip) || audit_part(e.changes), 'UTF8'));

-- Adds an entry to the log of the organisation; without one, of the actor's own. It is the last statement of its transaction: who holds
-- the chain's row waits for nothing else, so there is no deadlock.
create function append_audit_entry(
  organisation uuid, actor_kind text, actor uuid, credential text, action text, target text, outcome text, code text, ip text, changes text
) returns void language plpgsql as $$
#variable_conflict use_column
declare
  entry audit_entry;
  former bytea;
begin
  entry.organisation_id := coalesce(organisation, (select o.id from organisation o where o.personal_of = actor));
  if entry.organisation_id is null then return; end if;
  entry.actor_name := coalesce((select u.email from platform_user u where u.id = actor), '');
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

-- For whoever connects with the rights of the owner, such as the platform itself: a mistake in its code changes no entry either.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'The audit log is only ever added to.' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_entry_fixed before update or delete on audit_entry for each row execute function refuse_audit_change();
create trigger audit_entry_kept before truncate on audit_entry execute function refuse_audit_change();
create trigger audit_chain_kept before truncate on audit_chain execute function refuse_audit_change();
create trigger audit_chain_not_removed before delete on audit_chain for each row execute function refuse_audit_change();
create trigger audit_chain_moves_on before update on audit_chain for each row
  when (new.sequence is distinct from old.sequence + 1 or new.organisation_id is distinct from old.organisation_id)
  execute function refuse_audit_change();
