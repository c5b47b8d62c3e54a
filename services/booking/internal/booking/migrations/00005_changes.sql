-- +goose Up
-- The database stamps updated_at as a row is written, for lists by updated_since: see Tx.ChangesUntil.
create trigger appointment_stamp before insert or update of updated_at on appointment for each row execute function stamp_updated_at();

-- +goose Down
drop trigger appointment_stamp on appointment;
