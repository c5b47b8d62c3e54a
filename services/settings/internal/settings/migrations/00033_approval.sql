-- +goose Up
-- Which calls of a credential wait until a person approves them: never, writes or destructive.
alter table application_password add column approval text not null default 'never';
alter table connection add column approval text not null default 'never';

-- Of a call that waited: the approval, and the user who gave it.
alter table audit
	add column approval_id uuid,
	add column approved_by bigint;

-- Calls that wait for a person, or have waited.
create table approval (
	id         uuid        primary key,
	service    text        not null,
	operation  text        not null,
	permission text        not null,
	credential uuid        not null, -- an application password or a connection
	kind       text        not null, -- which of the two: key or connection
	person_id  bigint      not null references person on delete cascade,
	name       text        not null,
	input      jsonb       not null,
	effects    jsonb,      -- null for what cannot be rehearsed
	hash       text        not null,
	call       bytea,      -- sealed; null once nothing is left to be called
	state      text        not null, -- waiting, approved, refused, expired or failed
	status     integer,
	answer     jsonb,
	secret     bytea,      -- the answer with what is shown once, sealed; null once it was shown
	reason     text        not null default '',
	decided_by bigint,
	decided_at timestamptz,
	called_at  timestamptz, -- when the call was last begun; with decided_by while it waits
	created_at timestamptz not null,
	ends_at    timestamptz not null
);
create index approval_newest on approval (created_at, id);
create index approval_open on approval (ends_at) where state = 'waiting';
create index approval_person on approval (person_id);

-- +goose Down
drop table approval;
alter table audit drop column approval_id, drop column approved_by;
alter table application_password drop column approval;
alter table connection drop column approval;
