-- +goose Up
-- How far a calendar of a server is read that takes several turns, as JSON; null if it is read to its end. seen_at is the begin of the turn in which an object
-- was read, or seen unchanged: what was not seen in a whole reading is gone.
alter table external_calendar add column reading bytea;
alter table external_object add column seen_at timestamptz not null default now();

-- +goose Down
alter table external_object drop column seen_at;
alter table external_calendar drop column reading;
