-- +goose Up
-- Messages before the offset history are no news, although this schema has not handled them all: a later state of it has, which
-- a backup replaced.
alter table position add column history bigint not null default 0;

-- What the service's own topics hold, while a schema that went back to a backup is brought together with them. Empty otherwise.
create unlogged table logged (
	topic   text        not null,
	key     text        not null,
	version bigint      not null, -- the highest one
	kind    text        not null, -- of the newest message; empty for a tombstone
	at      timestamptz not null, -- when that happened
	primary key (topic, key)
);

-- +goose Down
drop table logged;
alter table position drop column history;
