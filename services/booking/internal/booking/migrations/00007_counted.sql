-- +goose Up
-- The totals of long lists, see row_count.
create trigger appointment_counted_insert after insert on appointment referencing new table as changed
	for each statement execute function count_rows('array[user_id::text, status]');
create trigger appointment_counted_delete after delete on appointment referencing old table as changed
	for each statement execute function count_rows('array[user_id::text, status]');
create trigger appointment_counted_update after update on appointment referencing old table as gone new table as changed
	for each statement execute function count_rows('array[user_id::text, status]');

-- +goose Down
drop trigger appointment_counted_insert on appointment;
drop trigger appointment_counted_delete on appointment;
drop trigger appointment_counted_update on appointment;
delete from row_count where counted = 'appointment';
