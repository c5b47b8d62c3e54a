-- +goose Up
-- What a webhook is narrowed down to, as the team wrote it, and in the spelling that is compared with an event's. How its bodies look.
alter table webhook add only_for jsonb not null default '{}', add only_keys jsonb not null default '{}',
	add format text not null default 'svc' check (format in ('svc', 'cloudevents'));

-- +goose Down
alter table webhook drop only_for, drop only_keys, drop format;
