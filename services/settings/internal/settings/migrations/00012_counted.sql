-- +goose Up
-- The totals of long lists, see row_count.
create trigger audit_counted_insert after insert on audit referencing new table as changed
	for each statement execute function count_rows('array[channel, action, user_id::text]');
create trigger audit_counted_delete after delete on audit referencing old table as changed
	for each statement execute function count_rows('array[channel, action, user_id::text]');
create trigger audit_counted_update after update on audit referencing old table as gone new table as changed
	for each statement execute function count_rows('array[channel, action, user_id::text]');
create trigger mail_counted_insert after insert on mail referencing new table as changed
	for each statement execute function count_rows('array[status]');
create trigger mail_counted_delete after delete on mail referencing old table as changed
	for each statement execute function count_rows('array[status]');
create trigger mail_counted_update after update on mail referencing old table as gone new table as changed
	for each statement execute function count_rows('array[status]');

-- +goose Down
drop trigger audit_counted_insert on audit;
drop trigger audit_counted_delete on audit;
drop trigger audit_counted_update on audit;
delete from row_count where counted = 'audit';
drop trigger mail_counted_insert on mail;
drop trigger mail_counted_delete on mail;
drop trigger mail_counted_update on mail;
delete from row_count where counted = 'mail';
