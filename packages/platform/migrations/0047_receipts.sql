-- What receipts say of a version: SHA-256 of the canonical text of its requirements, and the Python it was built with. Null: of a former release.
alter table version add column requirements_hash text, add column python text;

-- Whether what the key has signed counts no more: it may have leaked. Receipts of other retired keys stay valid.
alter table signing_key add column is_withdrawn boolean not null default false;
