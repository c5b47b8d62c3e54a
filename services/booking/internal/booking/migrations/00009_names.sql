-- +goose NO TRANSACTION
-- +goose Up
-- What may name somebody in the words of an appointment, also as a link writes it: an erasure reads these rows. appointments.mayName is the same condition.
set lock_timeout = 0;
drop index concurrently if exists appointment_names;
create index concurrently appointment_names on appointment (id) where (notes || ' ' || location || ' ' || meeting_url || ' ' || cancel_reason) ~ '@|%40|%25';

-- +goose Down
drop index appointment_names;
