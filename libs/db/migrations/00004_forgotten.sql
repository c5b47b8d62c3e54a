-- +goose Up
-- The people erased in the last month and when: commands and messages from before may still arrive. Records are
-- stored by id, people by the keyed hashes of their addresses and names.
create table forgotten_person (
	called bytea       primary key,
	at     timestamptz not null
);

-- Records that have ended in a tombstone. It is sent a second time: a broker compacts the end of a partition only after
-- something was written behind it, and nothing else may ever be.
create table ended (
	topic text        not null,
	key   uuid        not null,
	at    timestamptz not null,
	primary key (topic, key)
);

-- +goose Down
drop table ended, forgotten_person;
