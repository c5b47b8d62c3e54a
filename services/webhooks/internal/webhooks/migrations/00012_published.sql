-- +goose Up

-- Webhooks that are there already are published as state. Without any there is nothing to publish.
insert into lost_topic (topic, since) select 'webhooks.endpoint', now() where exists (select from webhook) on conflict do nothing;

-- +goose Down
delete from lost_topic where topic = 'webhooks.endpoint';
