-- +goose Up
-- Whether the message was no news when it was parked: a replay years later must not mail what it says.
alter table parked add column history boolean not null default false;

-- +goose Down
alter table parked drop column history;
