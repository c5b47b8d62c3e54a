-- +goose Up
-- The totals of long lists, see row_count.
select count_rows('audit', 'array[channel, action, user_id::text]');
select count_rows('mail', 'array[status]');

-- +goose Down
drop function audit_counted cascade;
delete from row_count where counted = 'audit';
drop function mail_counted cascade;
delete from row_count where counted = 'mail';
