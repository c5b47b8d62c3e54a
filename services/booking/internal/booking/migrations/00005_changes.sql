-- +goose Up
-- What is listed by updated_since is stamped by the database as it is written, see Tx.ChangesUntil.
create trigger appointment_stamp before insert or update of updated_at on appointment for each row execute function stamp_updated_at();

-- +goose Down
drop trigger appointment_stamp on appointment;
