-- +goose Up
-- Whether entries are to be handed to a stream outside, and those that it has not taken yet.
create table audit_stream (
	one          boolean     primary key default true check (one),
	wanted_until timestamptz not null
);
create table audit_unsent (
	seq       bigint      primary key generated always as identity,
	id        uuid        not null unique references audit on delete cascade,
	queued_at timestamptz not null default clock_timestamp()
);

-- +goose Down
drop table audit_unsent, audit_stream;
