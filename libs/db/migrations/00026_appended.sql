-- +goose Up
-- When the message at this place of the log was appended, by its sender's clock: with the offset it tells one appending from another. A relay of the version
-- before leaves the time of an earlier message; the newest message is then sent once more.
alter table outbox add column appended_at timestamptz;
alter table published add column appended_at timestamptz;

-- +goose Down
alter table published drop column appended_at;
alter table outbox drop column appended_at;
