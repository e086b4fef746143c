-- Lookups of quantum jobs that read one row, however many jobs there have been.
set local lock_timeout = '3s';

-- An earlier job that has run what another one would: by a key that no other organisation's job has, and none that has not run itself.
drop index execution_input_digest;
create index execution_input_cache_key on execution_input (("references" -> 'annotation' ->> 'cacheKey'))
  where "references" -> 'annotation' ->> 'cacheKey' is not null;

-- Jobs of a session that have not ended.
create index execution_session_open on execution (session_id) where session_id is not null and ended_at is null;
