-- +goose Up
create table service (
	id               uuid        primary key,
	name             text        not null,
	description      text        not null,
	duration_min     int         not null check (duration_min between 1 and 1440),
	buffer_before    int         not null check (buffer_before >= 0),
	buffer_after     int         not null check (buffer_after >= 0),
	price            text,
	location_type    text        not null,
	location_details text        not null,
	confirmation     text        not null,
	bookable_online  boolean     not null,
	min_notice_min   int,
	max_advance_days int,
	form_id          bigint,
	sort_order       int         not null,
	archived         boolean     not null default false,
	version          bigint      not null default 1,
	created_at       timestamptz not null,
	updated_at       timestamptz not null
);

-- What booking knows of a team member; the person and the role are the settings service's.
create table staff (
	user_id     bigint  primary key,
	name        text    not null default '', -- empty: the user's own
	meeting_url text    not null default '',
	hours       jsonb   not null default '{}',
	removed_at  timestamptz,
	version     bigint  not null default 0
);

-- Who does what.
create table skill (
	service_id uuid   not null references service,
	user_id    bigint not null references staff,
	primary key (service_id, user_id)
);
create index skill_user on skill (user_id);

-- Time off, extra hours and, without a user, closures of the whole business.
create table exception (
	id         uuid        primary key,
	user_id    bigint,
	date_from  date        not null,
	date_to    date        not null check (date_to >= date_from),
	start_min  int         not null check (start_min >= 0),
	end_min    int         not null check (end_min > start_min and end_min <= 1440),
	all_day    boolean     not null,
	extra      boolean     not null check (not extra or user_id is not null),
	label      text        not null,
	created_at timestamptz not null
);
create index exception_period on exception (date_to, date_from);

create table appointment (
	id            uuid        primary key,
	status        text        not null,
	service_id    uuid        not null references service,
	-- The service's settings as they were at booking.
	terms         jsonb       not null,
	user_id       bigint      not null references staff,
	contact_id    uuid        not null,
	starts_at     timestamptz not null,
	ends_at       timestamptz not null check (ends_at > starts_at),
	period        tstzrange   not null generated always as (tstzrange(starts_at, ends_at)) stored,
	buffer_before int         not null,
	buffer_after  int         not null,
	location_type text        not null,
	location      text        not null,
	meeting_url   text        not null,
	notes         text        not null,
	source        text        not null,
	submission_id uuid,
	cancel_reason text        not null default '',
	-- SEQUENCE of the calendar file.
	sequence      int         not null default 0,
	-- When the time was last set; no reminder is due before.
	timed_at      timestamptz not null,
	reminded_at   timestamptz,
	version       bigint      not null default 1,
	created_at    timestamptz not null,
	updated_at    timestamptz not null,
	-- No two appointments of one person at one time, whatever the code does.
	constraint appointment_overlap exclude using gist (user_id with =, period with &&)
		where (status in ('pending', 'confirmed', 'pending_payment'))
);
create index appointment_start on appointment (starts_at, id);
create index appointment_staff on appointment (user_id, starts_at) include (status, ends_at, buffer_before, buffer_after, id);
create index appointment_contact on appointment (contact_id, starts_at, id);
create index appointment_updated on appointment (updated_at, id);

-- Links in mails, by the hash of their token. The newest of an appointment is live.
create table manage_token (
	hash           bytea       primary key,
	appointment_id uuid        not null references appointment on delete cascade,
	ended          boolean     not null default false
);
create index manage_token_appointment on manage_token (appointment_id);

-- One row.
create table settings (
	one                  boolean primary key default true check (one),
	slot_step            int     not null default 0,
	min_notice_min       int     not null default 0,
	max_advance_days     int     not null default 60,
	cancel_notice_hours  int     not null default 0,
	late_cancel_text     text    not null default '',
	reminder_enabled     boolean not null default true,
	reminder_hours       int     not null default 24,
	terms_text           text    not null default '',
	default_confirmation text    not null default 'auto',
	client_changes       boolean not null default true,
	max_open_bookings    int     not null default 0,
	form_id              bigint,
	version              bigint  not null default 1
);
insert into settings default values;

-- Copies of what other services own, by the version they had.
create table contact (
	id            uuid    primary key,
	version       bigint  not null, -- 0 until contacts has heard of a person who booked here first
	first_name    text    not null default '',
	last_name     text    not null default '',
	email         text    not null default '',
	email_key     text    not null default '', -- what makes two addresses the same
	phone         text    not null default '',
	owner_user_id bigint,
	trashed       boolean not null default false
);
create index contact_email on contact (email_key) where email_key <> '';
create index contact_owner on contact (owner_user_id) where owner_user_id is not null;

create table organization (
	id            uuid   primary key,
	version       bigint not null,
	owner_user_id bigint
);
create index organization_owner on organization (owner_user_id) where owner_user_id is not null;

create table form (
	id       bigint  primary key,
	version  bigint  not null,
	status   text    not null,
	trashed  boolean not null,
	elements jsonb   not null
);

create table page (
	id      bigint primary key,
	version bigint not null,
	title   text   not null,
	slug    text   not null,
	status  text   not null,
	content text   not null,
	url     text   not null
);

-- What became of widgets that settings was asked to put into a page.
create table embedding (
	request_id uuid        primary key,
	page_id    bigint      not null,
	status     text        not null,
	edit_url   text        not null,
	created    boolean     not null,
	at         timestamptz not null
);

-- +goose Down
drop table embedding, page, form, organization, contact, settings, manage_token, appointment, exception, skill, staff, service;
