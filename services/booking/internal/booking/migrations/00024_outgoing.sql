-- +goose Up
-- Accounts into which appointments are written, one for each external calendar that is to have them, under its id and sealed under its purpose. collection is the
-- calendar in use, empty when the person has none any more. The row outlasts the external calendar until what was written is removed there. holder writes until held_until.
create table outgoing_account (
	id         uuid        primary key,
	user_id    bigint      not null,
	url        bytea       not null,
	username   text        not null,
	password   bytea,
	collection text        not null,
	created_at timestamptz not null,
	ended_at   timestamptz,
	holder     uuid,
	held_until timestamptz
);
create index outgoing_account_user on outgoing_account (user_id, created_at, id);

-- Which appointments stand in which calendars, or are to. revision counts what happened to the appointment. queued_at is since when an entry waits to be
-- compared with it, and due_at when that is tried next; both are null for one that is at rest. etag is that of the event there, empty if it is not known.
create table outgoing (
	appointment_id uuid        not null,
	account_id     uuid        not null references outgoing_account on delete cascade,
	collection     text        not null,
	etag           text        not null default '',
	revision       bigint      not null default 1,
	tries          integer     not null default 0,
	queued_at      timestamptz default clock_timestamp(),
	due_at         timestamptz default clock_timestamp(),
	primary key (appointment_id, account_id, collection)
);
create index outgoing_due on outgoing (account_id, due_at);
create index outgoing_queued on outgoing (queued_at) where queued_at is not null;

-- +goose StatementBegin
create function appointment_goes_out() returns trigger language plpgsql as $$
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
create trigger appointment_comes after insert or delete on appointment for each row execute function appointment_goes_out();
create trigger appointment_changes after update on appointment for each row
	when ((old.status, old.user_id, old.contact_id, old.booked_for, old.starts_at, old.ends_at, old.location_type, old.location, old.sequence)
		is distinct from (new.status, new.user_id, new.contact_id, new.booked_for, new.starts_at, new.ends_at, new.location_type, new.location, new.sequence))
	execute function appointment_goes_out();

-- The first calendar of a person counts: it gets what is coming, and elsewhere that is taken out.
-- +goose StatementBegin
create function calendar_goes_out() returns trigger language plpgsql as $$
declare
	person bigint := coalesce(new.user_id, old.user_id);
	counts record;
begin
	if tg_op <> 'DELETE' and new.writes and new.calendar <> '' then
		insert into outgoing_account (id, user_id, url, username, password, collection, created_at)
			values (new.id, new.user_id, new.url, new.username, new.password, new.calendar, new.created_at)
			on conflict (id) do update set url = excluded.url, username = excluded.username, password = excluded.password, collection = excluded.collection, ended_at = null;
	else
		update outgoing_account set collection = '', ended_at = coalesce(ended_at, clock_timestamp()) where id = coalesce(new.id, old.id);
	end if;
	select id, collection into counts from outgoing_account where user_id = person and collection <> '' order by created_at, id limit 1;
	insert into outgoing (appointment_id, account_id, collection) select p.id, counts.id, counts.collection from appointment p
		where counts.id is not null and p.user_id = person and p.status = 'confirmed' and p.ends_at > clock_timestamp() on conflict do nothing;
	update outgoing o set revision = o.revision + 1, tries = 0, queued_at = coalesce(o.queued_at, clock_timestamp()), due_at = clock_timestamp()
		from outgoing_account a where a.id = o.account_id and a.user_id = person
			and (o.queued_at is not null or (o.account_id, o.collection) is distinct from (counts.id, counts.collection));
	return null;
end $$;
-- +goose StatementEnd
create trigger calendar_comes after insert or delete on external_calendar for each row execute function calendar_goes_out();
create trigger calendar_changes after update on external_calendar for each row
	when ((old.writes, old.calendar, old.url, old.username, old.password) is distinct from (new.writes, new.calendar, new.url, new.username, new.password))
	execute function calendar_goes_out();

-- +goose Down
drop trigger appointment_comes on appointment;
drop trigger appointment_changes on appointment;
drop trigger calendar_comes on external_calendar;
drop trigger calendar_changes on external_calendar;
drop function appointment_goes_out();
drop function calendar_goes_out();
drop table outgoing;
drop table outgoing_account;
