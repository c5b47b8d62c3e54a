-- +goose Up
-- Readers take only what the owner of these topics has signed. What was published before is not, so its owner publishes its state once more.
insert into lost_topic (topic, since) select distinct topic, now() from published
	where topic in ('settings.identity', 'settings.site', 'settings.apps', 'booking.staff')
	on conflict (topic) do nothing;

-- +goose Down
