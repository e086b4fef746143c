-- What one execution of a version may return and print: {"resultMegabytes": ..., "logMegabytes": ...}, as in platform.json. Null: it does
-- not say, like every version from before this column existed; the platform's limits apply. Without a default, so no row is rewritten.

alter table version add column output jsonb;
