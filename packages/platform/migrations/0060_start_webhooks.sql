-- URLs that starts name (webhookUrl): one webhook without a URL for each application, and one for the jobs of an organisation. It has the secret
-- and the events; the URL of each start stands beside the references of its execution, and in its messages.
alter table webhook add column organisation_id uuid constraint webhook_organisation references organisation (id);
update webhook w set organisation_id = a.organisation_id from application a where a.id = w.application_id;
alter table webhook alter column organisation_id set not null;
-- Null: it is told of jobs of the organisation.
alter table webhook alter column application_id drop not null;
-- Null: it is that of starts.
alter table webhook alter column url drop not null;
-- Null: it was made by the first start that named a URL.
alter table webhook alter column created_by drop not null;
create unique index webhook_of_starts on webhook (coalesce(application_id, organisation_id)) where url is null;
create index webhook_of_jobs on webhook (organisation_id, id) where application_id is null;

-- Of a message to the URL of a start, and the hash of its origin; both null: the URL is that of the webhook.
alter table webhook_delivery add column url text;
alter table webhook_delivery add column lane text;
alter table webhook_delivery add constraint webhook_delivery_lane check ((url is null) = (lane is null));
create index webhook_delivery_lanes on webhook_delivery (webhook_id, lane, next_at) where status = 'PENDING' and lane is not null;

-- Messages of a webhook that was deleted are removed by rounds: there may be very many.
alter table webhook_delivery drop constraint webhook_delivery_webhook;
