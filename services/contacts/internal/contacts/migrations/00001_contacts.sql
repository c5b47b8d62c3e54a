-- +goose Up
-- unaccent reads its rules from a dictionary and so is not immutable by itself; with the dictionary named
-- it may stand in an index.
-- +goose StatementBegin
create function fold(text) returns text language sql immutable parallel safe strict
	as $$ select lower(ext.unaccent('ext.unaccent'::regdictionary, $1)) $$;
-- +goose StatementEnd

create table organization (
	id            uuid primary key,
	version       bigint      not null default 1,
	name          text        not null,
	vat_number    text        not null default '',
	email         text        not null default '',
	phone         text        not null default '',
	website       text        not null default '',
	address_line  text        not null default '',
	postal_code   text        not null default '',
	city          text        not null default '',
	country       text        not null default '',
	owner_user_id bigint,
	fields        jsonb       not null default '{}',
	-- What makes two organizations similar.
	name_key      text        not null default '',
	vat_key       text        not null default '',
	email_key     text        not null default '',
	search        text        not null generated always as (fold(name || ' ' || vat_number || ' ' || email || ' ' || city)) stored,
	last_activity timestamptz,
	created_at    timestamptz not null,
	updated_at    timestamptz not null,
	deleted_at    timestamptz
) with (fillfactor = 90);
create index organization_order on organization (created_at desc, id desc) where deleted_at is null;
create index organization_owner on organization (owner_user_id, created_at desc, id desc) where deleted_at is null;
create index organization_updated on organization (updated_at) where deleted_at is null;
create index organization_search on organization using gin (search ext.gin_trgm_ops);
create index organization_name on organization (name_key) where deleted_at is null and name_key <> '';
create index organization_vat on organization (vat_key) where deleted_at is null and vat_key <> '';
create index organization_email on organization (email_key) where deleted_at is null and email_key <> '';

create table contact (
	id                   uuid primary key,
	version              bigint      not null default 1,
	first_name           text        not null default '',
	last_name            text        not null default '',
	email                text        not null default '',
	-- The address as it is compared: lower case, the domain in ASCII.
	email_key            text        not null default '',
	phone                text        not null default '',
	status               text        not null default 'lead' check (status in ('lead', 'customer', 'inactive')),
	marketing            text        not null default 'none' check (marketing in ('none', 'pending', 'subscribed', 'unsubscribed')),
	marketing_updated_at timestamptz,
	source               text        not null default '',
	owner_user_id        bigint,
	-- Names as the table tag has them.
	tags                 text[]      not null default '{}',
	fields               jsonb       not null default '{}',
	-- The number is there a second time as bare digits: people search it with and without blanks.
	search               text        not null generated always as (fold(first_name || ' ' || last_name || ' ' || email || ' ' || phone
		|| ' ' || regexp_replace(phone, '[^0-9]', '', 'g'))) stored,
	last_activity        timestamptz,
	created_at           timestamptz not null,
	updated_at           timestamptz not null,
	deleted_at           timestamptz
) with (fillfactor = 85);
create unique index contact_email on contact (email_key) where deleted_at is null and email_key <> '';
create index contact_email_trash on contact (email_key) where deleted_at is not null and email_key <> '';
create index contact_order on contact (created_at desc, id desc) where deleted_at is null;
create index contact_order_all on contact (created_at desc, id desc);
create index contact_owner on contact (owner_user_id, created_at desc, id desc) where deleted_at is null;
create index contact_updated on contact (updated_at);
create index contact_source on contact (source) where deleted_at is null and source <> '';
create index contact_tags on contact using gin (tags);
create index contact_search on contact using gin (search ext.gin_trgm_ops);
create index contact_trash on contact (deleted_at) where deleted_at is not null;

-- How many contacts there are, as changes that add up: each transaction adds rows and none waits for
-- another. A job adds the rows together now and then.
create table contact_count (
	owner_user_id bigint,
	status        text    not null,
	marketing     text    not null,
	trashed       boolean not null,
	n             bigint  not null
);

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

-- Ids that are no contact any more, or never became one: merged into target, aliased to it because the
-- address was taken, or erased (no target).
create table contact_alias (
	id         uuid primary key,
	target     uuid,
	created_at timestamptz not null,
	-- A contact that was merged away still has its last event in the topic; set until a tombstone ends it.
	lingers    boolean     not null default false
);
create index contact_alias_lingering on contact_alias (created_at) where lingers;
create index contact_alias_target on contact_alias (target);

-- Addresses that a contact had before, or that it got by a merge: timelines still name them.
create table former_address (
	email_key  text not null,
	contact_id uuid not null references contact on delete cascade,
	primary key (email_key, contact_id)
);
create index former_address_contact on former_address (contact_id);

create table contact_organization (
	contact_id      uuid        not null references contact on delete cascade,
	organization_id uuid        not null references organization on delete cascade,
	role            text        not null default '',
	is_primary      boolean     not null default false,
	created_at      timestamptz not null,
	primary key (contact_id, organization_id)
);
create index contact_organization_people on contact_organization (organization_id, created_at, contact_id);
create unique index contact_organization_primary on contact_organization (contact_id) where is_primary;

-- Pairs of organizations that somebody said are two; a < b.
create table organization_distinct (
	a uuid not null references organization on delete cascade,
	b uuid not null references organization on delete cascade,
	primary key (a, b)
);
create index organization_distinct_b on organization_distinct (b);

create table tag (
	slug       text primary key,
	name       text        not null,
	created_at timestamptz not null
);

create table field_group (
	id         uuid primary key,
	entity     text        not null check (entity in ('contact', 'organization', 'submission')),
	label      text        not null,
	sort_order int         not null default 0,
	created_at timestamptz not null
);
create table field (
	id           uuid primary key,
	version      bigint      not null default 1,
	entity       text        not null check (entity in ('contact', 'organization', 'submission')),
	key          text        not null,
	label        text        not null,
	type         text        not null,
	options      text[]      not null default '{}',
	group_id     uuid references field_group on delete set null,
	sort_order   int         not null default 0,
	source       text        not null default '',
	show_in_list boolean     not null default false,
	archived     boolean     not null default false,
	created_at   timestamptz not null,
	unique (entity, key)
);
create index field_of_group on field (group_id);

-- The timeline. An entry may be there before its contact: a booking and the contact it makes arrive by
-- different topics.
create table activity (
	id              uuid primary key,
	contact_id      uuid,
	organization_id uuid,
	type            text        not null,
	subject         text        not null default '',
	body            text        not null default '',
	data            jsonb       not null default '{}',
	channel         text        not null,
	actor_label     text        not null default '',
	user_id         bigint,
	-- The appointment or submission it tells of.
	ref             uuid,
	created_at      timestamptz not null
);
create index activity_contact on activity (contact_id, created_at desc, id desc) where contact_id is not null;
create index activity_organization on activity (organization_id, created_at desc, id desc) where organization_id is not null;
create index activity_order on activity (created_at desc, id desc) where contact_id is not null;
create index activity_ref on activity (ref) where ref is not null;

create table consent (
	id         uuid primary key,
	contact_id uuid        not null references contact on delete cascade,
	purpose    text        not null,
	text       text        not null,
	verified   boolean     not null,
	created_at timestamptz not null
);
create index consent_contact on consent (contact_id, created_at, id);

-- Links in marketing mails, by the SHA-256 of their token.
create table marketing_link (
	token        bytea primary key,
	kind         text        not null check (kind in ('confirm', 'unsubscribe')),
	contact_id   uuid references contact on delete set null,
	-- The address it was mailed to; blank once the person is erased.
	email_key    text        not null,
	address_hash bytea       not null,
	created_at   timestamptz not null,
	ended_at     timestamptz
);
create index marketing_link_contact on marketing_link (contact_id, kind, created_at);
create index marketing_link_address on marketing_link (address_hash);

-- Keyed hashes of addresses that left; they outlive everything else about a person.
create table unsubscribed (
	address_hash bytea primary key,
	created_at   timestamptz not null
);

create table import (
	id          uuid primary key,
	user_id     bigint      not null,
	actor       jsonb       not null,
	file_name   text        not null,
	csv         text        not null,
	status      text        not null default 'uploaded' check (status in ('uploaded', 'queued', 'running', 'completed', 'failed')),
	headers     text[]      not null,
	mapping     text[]      not null,
	options     jsonb       not null,
	preview     jsonb       not null,
	-- How far it came: the number of the last row that is done, moved in the transaction of its effect.
	done_row    int         not null default 1,
	-- Grows when rows are struck out of the file.
	revision    int         not null default 1,
	rows        int         not null default 0,
	created     int         not null default 0,
	updated     int         not null default 0,
	skipped     int         not null default 0,
	failed      int         not null default 0,
	created_at  timestamptz not null,
	finished_at timestamptz
);
create index import_waiting on import (created_at) where status in ('queued', 'running');
create table import_error (
	import_id uuid   not null references import on delete cascade,
	row       int    not null,
	"column"  text   not null,
	code      text   not null,
	message   text   not null,
	cells     text[] not null,
	primary key (import_id, row)
);

-- Copies of what other services own.
create table appointment (
	id           uuid primary key,
	version      bigint      not null,
	contact_id   uuid,
	status       text        not null,
	service_id   uuid,
	service_name text        not null default '',
	staff_id     bigint,
	staff_name   text        not null default '',
	starts_at    timestamptz not null,
	ends_at      timestamptz not null
);
create index appointment_contact on appointment (contact_id, starts_at) where status not in ('cancelled', 'declined');
create index appointment_time on appointment (starts_at);
create index appointment_requests on appointment (starts_at) where status = 'pending';
create table submission (
	id         uuid primary key,
	version    bigint      not null,
	contact_id uuid,
	form_id    bigint      not null,
	form_name  text        not null default '',
	status     text        not null,
	created_at timestamptz not null
);
create index submission_contact on submission (contact_id);
create index submission_time on submission (created_at);

-- +goose Down
drop table submission, appointment, import_error, import, unsubscribed, marketing_link, consent, activity, field, field_group, tag,
	organization_distinct, contact_organization, former_address, contact_alias, contact_count, contact, organization;
drop function count_new_contacts, count_gone_contacts, count_changed_contact, fold;
