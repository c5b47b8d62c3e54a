-- +goose Up

-- A call that somebody of the team made, by its audit entry: how it is taken back, and which versions of records it made of which. steps hold old values and
-- are personal; they go with an erasure. undoes is the entry that the call takes back, by its step of that number.
create table deed (
	entry uuid primary key,
	operation text not null,
	user_id bigint not null,
	credential text not null,
	label text not null,
	record_type text not null,
	record_id text not null,
	reason text not null,
	steps jsonb,
	undoes uuid,
	step integer,
	about uuid[] not null default '{}',
	people bytea[] not null default '{}',
	at timestamptz not null
);
create index deed_age on deed (at);
create index deed_undoes on deed (undoes) where undoes is not null;

create table deed_record (
	record text not null,
	entry uuid not null references deed on delete cascade,
	was bigint not null,
	became bigint not null,
	primary key (record, entry)
);
create index deed_record_entry on deed_record (entry);

-- +goose Down
drop table deed_record;
drop table deed;
