-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists contact_booked_for;
create index concurrently contact_booked_for on contact (id) where booked_for <> '';

-- +goose Down
drop index contact_booked_for;
