-- What a version's project asks to reach over the network: "none", "egress" or {"hosts": [...]}, as in platform.json. Null: it does
-- not say, like every version from before this column existed; the operator's setting applies. Without a default, so no row is rewritten.

alter table version add column network jsonb;
