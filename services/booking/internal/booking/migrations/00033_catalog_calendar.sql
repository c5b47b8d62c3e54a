-- +goose Up
-- The catalog knows who has connected a calendar, so that a booking with anybody else asks for no times of one.
create constraint trigger catalog_calendar after insert or delete on external_calendar deferrable initially deferred
	for each row execute function catalog_changes();

-- +goose Down
drop trigger catalog_calendar on external_calendar;
