-- What was revoked or has expired is removed after a while: these find what still refers to it.

create index personal_access_token_parent on personal_access_token (parent_id) where parent_id is not null;
create index access_key_replaced on access_key (replaced_by) where replaced_by is not null;
