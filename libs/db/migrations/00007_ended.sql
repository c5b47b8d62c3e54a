-- +goose Up
-- A record can end in an event that stays in its topic for good, instead of a tombstone: value is that event.
alter table ended add column value bytea;

-- +goose Down
alter table ended drop column value;
