-- +goose Up
-- The names, without case and accents and each with a blank behind it, for whom visitors booked with the address of a contact: it is found by them.
alter table appointment add column booked_for text not null default '';
alter table contact add column booked_for text not null default '';
drop trigger contact_changes on contact;
create trigger contact_changes before update of first_name, last_name, email, phone, status, marketing, source, owner_user_id, tags, created_at, deleted_at, booked_for
	on contact for each row execute function contact_changes();

-- +goose StatementBegin
create function contact_booked_for() returns trigger language plpgsql as $$
begin
	update contact c set booked_for = n.names from (
		select c.id, coalesce(string_agg(distinct fold(a.booked_for) || ' ', '') filter (where a.booked_for <> ''), '') as names
		from contact c left join appointment a on a.contact_id = c.id
		where c.id = any(array[case when tg_op <> 'INSERT' then old.contact_id end, case when tg_op <> 'DELETE' then new.contact_id end]) group by c.id) n
	where c.id = n.id and c.booked_for <> n.names;
	return null;
end $$;
-- +goose StatementEnd
create trigger contact_booked_for_insert after insert on appointment for each row when (new.booked_for <> '') execute function contact_booked_for();
create trigger contact_booked_for_update after update of booked_for, contact_id on appointment for each row when (old.booked_for <> '' or new.booked_for <> '') execute function contact_booked_for();
create trigger contact_booked_for_delete after delete on appointment for each row when (old.booked_for <> '') execute function contact_booked_for();

-- +goose Down
drop trigger contact_booked_for_insert on appointment;
drop trigger contact_booked_for_update on appointment;
drop trigger contact_booked_for_delete on appointment;
drop function contact_booked_for;
drop trigger contact_changes on contact;
create trigger contact_changes before update of first_name, last_name, email, phone, status, marketing, source, owner_user_id, tags, created_at, deleted_at
	on contact for each row execute function contact_changes();
alter table contact drop column booked_for;
alter table appointment drop column booked_for;
