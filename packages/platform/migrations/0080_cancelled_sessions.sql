-- Sessions that were cancelled, with all that is started in them; and ids of backends that nothing live has.
set local lock_timeout = '3s';

alter table quantum_session add column cancelled_at timestamptz;

update service s set backend_id = null
  where s.backend_id is not null and not exists (
    select 1 from version v where v.service_key = s.key and v.retired_at is null and v.backend is not null
  );
