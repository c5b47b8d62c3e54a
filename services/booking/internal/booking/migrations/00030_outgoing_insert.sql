-- +goose Up
-- A new appointment stands in no calendar yet.
-- +goose StatementBegin
create or replace function appointment_goes_out() returns trigger language plpgsql as $$
begin
	if tg_op <> 'INSERT' then
		update outgoing set revision = revision + 1, tries = 0, queued_at = coalesce(queued_at, clock_timestamp()), due_at = clock_timestamp()
			where appointment_id = old.id;
	end if;
	if tg_op <> 'DELETE' and new.status = 'confirmed' then
		insert into outgoing (appointment_id, account_id, collection) select new.id, a.id, a.collection from outgoing_account a
			where a.user_id = new.user_id and a.collection <> '' order by a.created_at, a.id limit 1 on conflict do nothing;
	end if;
	return null;
end $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
create or replace function appointment_goes_out() returns trigger language plpgsql as $$
begin
	update outgoing set revision = revision + 1, tries = 0, queued_at = coalesce(queued_at, clock_timestamp()), due_at = clock_timestamp()
		where appointment_id = coalesce(new.id, old.id);
	if tg_op <> 'DELETE' and new.status = 'confirmed' then
		insert into outgoing (appointment_id, account_id, collection) select new.id, a.id, a.collection from outgoing_account a
			where a.user_id = new.user_id and a.collection <> '' order by a.created_at, a.id limit 1 on conflict do nothing;
	end if;
	return null;
end $$;
-- +goose StatementEnd
