-- What a version shows of itself besides (store/versions/version-details.ts). Former versions have neither.

-- Rows of versions are read by each start that is not answered from memory; a new column without a default is added without writing any.
set local lock_timeout = '3s';

alter table version
  -- The project's input/data.json and input/params.json, as members data and params; null: it has none that can be shown.
  add column example_input jsonb,
  -- What was installed, as canonical text; null: of a former release.
  add column requirements text;
