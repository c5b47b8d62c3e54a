-- +goose Up
-- The totals of long lists, see row_count.
select count_rows('submission', 'array[form_id::text, status]');

-- +goose Down
drop function submission_counted cascade;
delete from row_count where counted = 'submission';
