-- +goose Up
-- Those that were there before the triggers. Less what the triggers have counted since, in the same snapshot, so that nobody has to wait.
insert into row_count select 'organization', array[(deleted_at is not null)::text, coalesce(owner_user_id::text, '')], count(*) from organization group by 2
	union all select counted, key, -n from row_count where counted = 'organization';

-- +goose Down
select 1;
