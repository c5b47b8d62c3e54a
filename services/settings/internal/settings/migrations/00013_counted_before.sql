-- +goose Up
-- Those that were there before the triggers. Less what the triggers have counted since, in the same snapshot, so that nobody has to wait.
insert into row_count select 'audit', array[channel, action, user_id::text], count(*) from audit group by 2
	union all select counted, key, -n from row_count where counted = 'audit';
insert into row_count select 'mail', array[status], count(*) from mail group by 2
	union all select counted, key, -n from row_count where counted = 'mail';

-- +goose Down
select 1;
