-- +goose Up
-- What a person of the team is mailed, and when. Without a row it is the standard.
create table notification (
	person_id bigint primary key references person on delete cascade,
	kinds     jsonb  not null, -- off, mail or digest, by kind
	digest_at text   not null, -- HH:MM in the zone of the business
	language  text,            -- null for that of the business's country
	agenda_on date,            -- the last day whose agenda was asked for
	version   bigint not null
);

-- What waits to be mailed to people of the team, or to addresses.
create table notice (
	id        uuid        not null,
	place     int         not null,
	person_id bigint      references person on delete cascade,
	address   text        not null,
	kind      text        not null,
	app       text        not null,
	at        timestamptz not null,
	start     timestamptz not null,
	message   bytea       not null,
	records   uuid[]      not null,
	people    bytea[]     not null,
	primary key (id, place)
);
create index notice_person on notice (person_id);

-- +goose Down
drop table notice, notification;
