-- A budget that was removed goes on counting the month, so that one that is set again has it. Null: it was removed.
set local lock_timeout = '3s';

alter table quantum_budget alter column amount drop not null;
