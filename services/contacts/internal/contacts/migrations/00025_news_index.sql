-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists appointment_arrived;
create index concurrently appointment_arrived on appointment (arrived_at) where arrived_at is not null;
drop index concurrently if exists submission_arrived;
create index concurrently submission_arrived on submission (arrived_at) where arrived_at is not null;

-- +goose Down
drop index submission_arrived;
drop index appointment_arrived;
