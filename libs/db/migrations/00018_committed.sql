-- +goose Up
-- When a message was committed, by the database's clock: created_at is the begin of its transaction. A default that is set apart does not
-- rewrite the table.
alter table outbox add column committed_at timestamptz;
alter table outbox alter column committed_at set default clock_timestamp();

-- +goose Down
alter table outbox drop column committed_at;
