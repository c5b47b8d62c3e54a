-- +goose Up
-- A visitor's booking reads the stamp before it writes the row, so that its event has the same one: see QueueStamp of package appointments.
drop trigger appointment_stamp on appointment;
create trigger appointment_stamp before insert or update of updated_at on appointment for each row when (new.updated_at is null) execute function stamp_updated_at();

-- +goose Down
drop trigger appointment_stamp on appointment;
create trigger appointment_stamp before insert or update of updated_at on appointment for each row execute function stamp_updated_at();
