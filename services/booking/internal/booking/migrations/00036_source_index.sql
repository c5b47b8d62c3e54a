-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists appointment_source;
create index concurrently appointment_source on appointment (source, starts_at, id);

-- +goose Down
drop index appointment_source;
