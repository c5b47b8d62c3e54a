-- +goose Up
-- When an event was last written into a calendar of another program, null if that is not known, and when it was seen that somebody has deleted it there.
alter table outgoing add column written_at timestamptz, add column deleted_at timestamptz;

-- +goose Down
alter table outgoing drop column written_at, drop column deleted_at;
