-- +goose Up
-- How many organizations there are, in the trash or not and by owner, for the totals of their list.
select count_rows('organization', 'array[(deleted_at is not null)::text, coalesce(owner_user_id::text, '''')]');

-- +goose Down
drop function organization_counted cascade;
delete from row_count where counted = 'organization';
