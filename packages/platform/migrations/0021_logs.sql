-- Who reads the logs of what subscribers of other organisations start. caller: who started it. provider: nobody of them; the provider keeps
-- what its code prints to itself.
alter table service add column logs text not null default 'caller' constraint service_logs_known check (logs in ('caller', 'provider'));
