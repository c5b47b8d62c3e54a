-- +goose Up
-- The totals of long lists, see row_count.
create trigger submission_counted_insert after insert on submission referencing new table as changed
	for each statement execute function count_rows('array[form_id::text, status]');
create trigger submission_counted_delete after delete on submission referencing old table as changed
	for each statement execute function count_rows('array[form_id::text, status]');
create trigger submission_counted_update after update on submission referencing old table as gone new table as changed
	for each statement execute function count_rows('array[form_id::text, status]');

-- +goose Down
drop trigger submission_counted_insert on submission;
drop trigger submission_counted_delete on submission;
drop trigger submission_counted_update on submission;
delete from row_count where counted = 'submission';
