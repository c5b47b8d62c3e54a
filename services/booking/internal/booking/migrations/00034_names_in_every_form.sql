-- +goose NO TRANSACTION
-- +goose Up
-- An erasure reads the rows of this index, which appointment_names had too few of: an @ may be written as \u0040. appointments.mayName is the same condition.
set lock_timeout = 0;
drop index concurrently if exists appointment_names_read;
create index concurrently appointment_names_read on appointment (id) where (notes || ' ' || location || ' ' || meeting_url || ' ' || cancel_reason) ~ '[@%\\]';
drop index concurrently if exists appointment_names;

-- +goose Down
create index appointment_names on appointment (id) where (notes || ' ' || location || ' ' || meeting_url || ' ' || cancel_reason) ~ '@|%40|%25';
drop index appointment_names_read;
