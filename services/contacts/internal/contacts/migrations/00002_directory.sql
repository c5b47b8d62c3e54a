-- +goose Up
-- Every replica keeps what contacts are listed and counted by in memory. It asks for the contacts of those
-- transactions that it has not seen yet: changed is the transaction that last wrote a row.
drop trigger contact_count_insert on contact;
drop trigger contact_count_delete on contact;
drop trigger contact_count_update on contact;
drop function count_new_contacts, count_gone_contacts, count_changed_contact;
drop table contact_count;
drop index contact_search;

alter table contact add changed xid8 not null default pg_current_xact_id();
create index contact_changed on contact (changed);

-- Contacts that are gone, or stand elsewhere in the order.
create table contact_gone (
	id         uuid        not null,
	created_at timestamptz not null,
	changed    xid8        not null default pg_current_xact_id(),
	gone_at    timestamptz not null default now()
);
create index contact_gone_changed on contact_gone (changed);
create index contact_gone_at on contact_gone (gone_at);

-- +goose StatementBegin
create function contact_changes() returns trigger language plpgsql as $$
begin
	new.changed := pg_current_xact_id();
	if new.created_at <> old.created_at then
		insert into contact_gone values (old.id, old.created_at);
	end if;
	return new;
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
create function contacts_go() returns trigger language plpgsql as $$
begin
	insert into contact_gone select id, created_at from gone;
	return null;
end $$;
-- +goose StatementEnd
create trigger contact_changes before update on contact for each row execute function contact_changes();
create trigger contacts_go after delete on contact referencing old table as gone for each statement execute function contacts_go();

-- +goose Down
drop trigger contact_changes on contact;
drop trigger contacts_go on contact;
drop function contact_changes, contacts_go;
drop table contact_gone;
alter table contact drop changed;
create index contact_search on contact using gin (search ext.gin_trgm_ops);
create table contact_count (owner_user_id bigint, status text not null, marketing text not null, trashed boolean not null, n bigint not null);
insert into contact_count select owner_user_id, status, marketing, deleted_at is not null, count(*) from contact group by 1, 2, 3, 4;
-- +goose StatementBegin
create function count_new_contacts() returns trigger language plpgsql as $$
begin
	insert into contact_count
		select owner_user_id, status, marketing, deleted_at is not null, count(*) from changed group by 1, 2, 3, 4;
	return null;
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
create function count_gone_contacts() returns trigger language plpgsql as $$
begin
	insert into contact_count
		select owner_user_id, status, marketing, deleted_at is not null, -count(*) from changed group by 1, 2, 3, 4;
	return null;
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
create function count_changed_contact() returns trigger language plpgsql as $$
begin
	insert into contact_count values
		(old.owner_user_id, old.status, old.marketing, old.deleted_at is not null, -1),
		(new.owner_user_id, new.status, new.marketing, new.deleted_at is not null, 1);
	return null;
end $$;
-- +goose StatementEnd
create trigger contact_count_insert after insert on contact
	referencing new table as changed for each statement execute function count_new_contacts();
create trigger contact_count_delete after delete on contact
	referencing old table as changed for each statement execute function count_gone_contacts();
create trigger contact_count_update after update on contact for each row
	when ((old.owner_user_id, old.status, old.marketing, old.deleted_at is null) is distinct from
	      (new.owner_user_id, new.status, new.marketing, new.deleted_at is null))
	execute function count_changed_contact();
