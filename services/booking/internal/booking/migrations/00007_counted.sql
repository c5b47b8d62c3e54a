-- +goose Up
-- The totals of long lists, see row_count.
select count_rows('appointment', 'array[user_id::text, status]');

-- +goose Down
drop function appointment_counted cascade;
delete from row_count where counted = 'appointment';
