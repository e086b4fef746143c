-- Finds a quantum job by what it has run (the digest that is noted beside its input): another one of it may have its result.
set local lock_timeout = '3s';

create index execution_input_digest on execution_input (("references" -> 'annotation' ->> 'digest'))
  where "references" -> 'annotation' ->> 'digest' is not null;
