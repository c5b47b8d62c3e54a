-- +goose Up
-- Calendars of other programs that take somebody's time. url and password are sealed. due_at is when it is read next, null for never; holder reads it until
-- held_until.
create table external_calendar (
	id             uuid        primary key,
	user_id        bigint      not null,
	kind           text        not null,
	name           text        not null,
	url            bytea       not null,
	username       text        not null,
	password       bytea,
	calendar       text        not null,
	blocks         boolean     not null,
	writes         boolean     not null,
	state          text        not null default 'new' check (state in ('new', 'ok', 'failing', 'off')),
	last_synced_at timestamptz,
	last_error     text        not null default '',
	events         integer     not null default 0,
	validators     text        not null default '',
	digest         bytea,
	read_on        date,
	failing_since  timestamptz,
	due_at         timestamptz,
	holder         uuid,
	held_until     timestamptz,
	version        bigint      not null default 1,
	created_at     timestamptz not null
);
create index external_calendar_user on external_calendar (user_id, created_at, id);
create index external_calendar_due on external_calendar (due_at);
create index external_calendar_state on external_calendar (state);

-- The times that they take. None is longer than a day, so that those which touch a period are found by their begin.
create table external_time (
	calendar_id uuid        not null references external_calendar on delete cascade,
	user_id     bigint      not null,
	starts_at   timestamptz not null,
	ends_at     timestamptz not null,
	primary key (calendar_id, starts_at),
	check (ends_at > starts_at and ends_at <= starts_at + interval '24 hours')
);
create index external_time_user on external_time (user_id, starts_at) include (ends_at);

-- +goose Down
drop table external_time;
drop table external_calendar;
